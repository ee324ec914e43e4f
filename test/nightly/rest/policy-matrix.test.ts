import { beforeAll, describe, expect, test } from 'vitest';
import { maskResponse, mapNamesToRoles } from '../../support/mask-response.ts';
import type { RestResponse } from '../../clients/rest.ts';
import { useSharedService } from '../../support/service.ts';
import {
  expectedOutcome,
  policies,
  type Policy,
  type Relation,
  relations,
  policyTable,
  visibilities,
  type Visibility,
} from '../../integration/rest/access/policy-table.ts';
import {
  createPolicyFixtures,
  type PolicyFixtures,
  type AgentPair,
} from '../../integration/rest/access/policy-fixtures.ts';

const service = useSharedService();
let fixtures: PolicyFixtures;
beforeAll(async () => {
  fixtures = createPolicyFixtures(service);
});

/** The value of a table cell for this response. */
function outcome(answer: RestResponse, { target }: AgentPair): string {
  const { body, status } = answer;
  if (body?.error) return body.error.code;
  if (body?.request_id) return body.status;
  if (!body?.agents) return String(status);
  const found = body.agents.some(({ id }: { id: string }) => id === target.id);
  return found ? 'found' : 'not found';
}

/** What the viewer gets with a new pair of agents. */
async function cell(name: string, relation: Relation, policy: Policy, visibility: Visibility) {
  const action = fixtures.actions[name];
  if (!action) throw new Error(`no such action: ${name}`);
  const pair = await fixtures.pairOf(relation);
  const prepared = (await action.prepare?.(pair)) ?? '';
  await fixtures.relate(pair, relation, policy, visibility);
  return { pair, answer: await action.act(pair, prepared) };
}

describe.each(Object.keys(policyTable))('%s', (name) => {
  test.each(relations)('%s', async (relation) => {
    const rows = policyTable[name]?.[relation];
    for (const visibility of visibilities) {
      const row = rows?.[visibility] ?? '';
      const found = await Promise.all(
        policies.map(async (policy) => {
          const { pair, answer } = await cell(name, relation, policy, visibility);
          return [policy, outcome(answer, pair)];
        }),
      );
      expect(found, visibility).toEqual(policies.map((policy) => [policy, expectedOutcome(row, policy)]));
    }
  });
});

/** Display names are parts of the handles. */
const partsOf = ({ viewer, target }: AgentPair) => ({
  ...mapNamesToRoles({ viewer, other: target }),
  'part of viewer': viewer.handle.split('.'),
  'part of other': target.handle.split('.'),
});

/** An open agent refuses only the agents that it has blocked; see docs/decisions/0007-trust.md. */
const refusesByBlock = (name: string, policy: Policy) =>
  policy === 'open' && expectedOutcome(policyTable[name]?.['stranger'].public ?? '', policy) === '201';

test.each(Object.keys(policyTable))(
  'a blocked agent gets the same response as a stranger: %s',
  async (name) => {
    for (const visibility of visibilities) {
      for (const policy of policies.filter((one) => !refusesByBlock(name, one))) {
        const [blocked, strange] = await Promise.all([
          cell(name, 'blocked by it', policy, visibility),
          cell(name, 'stranger', policy, visibility),
        ]);
        const [seen, wanted] = [blocked, strange].map(({ answer, pair }) =>
          maskResponse(answer, partsOf(pair)),
        );
        expect(seen, `${policy}, ${visibility}`).toBe(wanted);
      }
    }
  },
);
