import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { masked, namesOf } from '../../support/masked.ts';
import type { RestAnswer } from '../../support/rest-client.ts';
import { startService, type TestService } from '../../support/service.ts';
import {
  expected,
  policies,
  type Policy,
  type Relation,
  relations,
  table,
  visibilities,
  type Visibility,
} from './policy-table.ts';
import { policyWorlds, type PolicyWorlds, type World } from './policy-world.ts';

let service: TestService;
let worlds: PolicyWorlds;
beforeAll(async () => {
  service = await startService({ worker: false });
  worlds = policyWorlds(service);
});
afterAll(() => service.stop());

/** What a cell of the table says of this answer. */
function outcome(answer: RestAnswer, { other }: World): string {
  const { body, status } = answer;
  if (body?.error) return body.error.code;
  if (body?.request_id) return body.status;
  if (!body?.agents) return String(status);
  const found = body.agents.some(({ id }: { id: string }) => id === other.id);
  return found ? 'found' : 'not found';
}

/** What the viewer gets in a world of its own. */
async function cell(name: string, relation: Relation, policy: Policy, visibility: Visibility) {
  const action = worlds.actions[name];
  if (!action) throw new Error(`nobody knows how to ${name}`);
  const world = await worlds.pairOf(relation);
  const prepared = (await action.prepare?.(world)) ?? '';
  await worlds.relate(world, relation, policy, visibility);
  return { world, answer: await action.act(world, prepared) };
}

describe.each(Object.keys(table))('%s', (name) => {
  test.each(relations)('%s', async (relation) => {
    const rows = table[name]?.[relation];
    for (const visibility of visibilities) {
      const row = rows?.[visibility] ?? '';
      const found = await Promise.all(
        policies.map(async (policy) => {
          const { world, answer } = await cell(name, relation, policy, visibility);
          return [policy, outcome(answer, world)];
        }),
      );
      expect(found, visibility).toEqual(policies.map((policy) => [policy, expected(row, policy)]));
    }
  });
});

/** Display names are parts of the handles. */
const partsOf = ({ viewer, other }: World) => ({
  ...namesOf({ viewer, other }),
  'part of viewer': viewer.handle.split('.'),
  'part of other': other.handle.split('.'),
});

/** An open agent refuses nobody but whom it blocked; see docs/decisions/policy-in-threads.md. */
const refusesByBlock = (name: string, policy: Policy) =>
  policy === 'open' && expected(table[name]?.['stranger'].public ?? '', policy) === '201';

test.each(Object.keys(table))('who is blocked cannot tell it from being a stranger: %s', async (name) => {
  for (const visibility of visibilities) {
    for (const policy of policies.filter((one) => !refusesByBlock(name, one))) {
      const [blocked, strange] = await Promise.all([
        cell(name, 'blocked by it', policy, visibility),
        cell(name, 'stranger', policy, visibility),
      ]);
      const [seen, wanted] = [blocked, strange].map(({ answer, world }) => masked(answer, partsOf(world)));
      expect(seen, `${policy}, ${visibility}`).toBe(wanted);
    }
  }
});
