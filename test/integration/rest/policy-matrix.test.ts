import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

/** The answer without what differs between any two worlds: ids, times, names. */
function masked({ status, headers, text }: RestAnswer, { viewer, other }: World): unknown[] {
  const body = [viewer, other]
    .flatMap(({ id, handle }) => [id, handle, ...handle.split('.')])
    .reduce((all, name, index) => all.replaceAll(name, `{${index}}`), text)
    .replace(/"request_id":"[\w-]+"/, '"request_id":{}')
    .replaceAll(/\b[a-z]+_[0-9A-Z]{26}\b/g, '{id}')
    .replaceAll(/\b1\d{12}\b/g, '{time}');
  const names = [...headers.keys()].filter((header) => header !== 'etag').toSorted();
  return [status, names, headers.get('www-authenticate'), headers.get('retry-after'), body];
}

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
      expect(masked(blocked.answer, blocked.world), `${policy}, ${visibility}`).toEqual(
        masked(strange.answer, strange.world),
      );
    }
  }
});
