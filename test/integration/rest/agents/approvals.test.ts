import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { readPages } from '../../../clients/rest.ts';
import { allTestScopes, type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
beforeAll(async () => {
  await service.register({ handle: 'some.body', create_owner: true });
});

const deciding = { scopes: [...allTestScopes, 'approvals:write'] } as const;
const freshName = () => `o${randomUUID().slice(0, 8)}`;
const register = (handle: string, more: object = {}) =>
  service.register({ handle, create_owner: true, ...more }, deciding);

/** Two agents of one person. */
async function household() {
  const name = freshName();
  const [asker, decider] = [await register(`${name}.asker`), await register(`${name}.decider`)];
  return { name, asker, decider };
}

async function question({ id }: TestAgent, message = 'May I?'): Promise<string> {
  const detail = { message, client_name: 'A Program' };
  const input = { agent_id: id, action: 'request_contact', target: 'some.body', detail } as const;
  const approval = await service.write((work) => openApproval(work, input));
  return approval?.id ?? '';
}

const list = ({ token }: TestAgent, query = '') => service.get({ token }, `/approvals${query}`);
const decide = ({ token }: TestAgent, id: string, decision: 'approve' | 'deny') =>
  service.post({ token }, `/approvals/${id}/${decision}`);
const statusOf = async (by: TestAgent, id: string) => (await decide(by, id, 'approve')).status;

test('another agent of the person lists and decides pending approvals', async () => {
  const { asker, decider } = await household();
  const id = await question(asker);
  const { status, body } = await list(decider);
  expect([status, body]).toEqual([
    200,
    {
      approvals: [
        {
          id,
          agent: { id: asker.id, canonical_handle: asker.handle, display_name: 'asker' },
          action: 'request_contact',
          target: 'some.body',
          is_review: false,
          recipients: [],
          reason: null,
          message: 'May I?',
          client_name: 'A Program',
          state: 'pending',
          created_at: expect.any(Number),
          expires_at: expect.any(Number),
          decided_at: null,
          decided_via: null,
          decided_by: null,
          decided_by_agent: null,
          used_at: null,
        },
      ],
    },
  ]);
  const approved = await decide(decider, id, 'approve');
  expect([approved.status, approved.body]).toMatchObject([
    200,
    { id, state: 'approved', decided_via: 'agent', decided_by: null, decided_by_agent: decider.handle },
  ]);
  expect((await decide(decider, id, 'approve')).body).toEqual(approved.body);
  const late = await decide(decider, id, 'deny');
  expect([late.status, late.body]).toMatchObject([409, { error: { code: 'INVALID_TRANSITION' } }]);
});

test('neither the asking agent nor the agents of other people see or decide it', async () => {
  const { asker, decider } = await household();
  const other = await household();
  const id = await question(asker);
  for (const stranger of [asker, other.decider]) {
    expect((await list(stranger)).body).toEqual({ approvals: [] });
    const hidden = await decide(stranger, id, 'approve');
    const absent = await decide(stranger, 'apr_01K9ZX6Q8T1V5X7Y9Z2B4D5E6F', 'approve');
    const { request_id: _one, ...words } = hidden.body.error;
    const { request_id: _other, ...same } = absent.body.error;
    expect([hidden.status, words]).toEqual([absent.status, same]);
    expect(hidden.status).toBe(404);
  }
  expect((await decide(decider, 'nonsense', 'deny')).status).toBe(404);
  expect((await list(decider)).body.approvals).toMatchObject([{ id, state: 'pending' }]);
});

test('in an organization only agents of a person who acts as both can decide', async () => {
  const slug = freshName();
  const [boss, hand] = [freshName(), freshName()];
  const [ofBoss, ofHand] = [await register(`${boss}.own`), await register(`${hand}.own`)];
  await service.write(async (work) => {
    await createOrganization(work, slug);
    await joinOrganization(work, { slug, username: boss, role: 'admin' });
    await joinOrganization(work, { slug, username: hand, role: 'member' });
  });
  const shared = await register(`${slug}.desk`, { scope: 'shared' });
  const twin = await register(`${slug}.other-desk`, { scope: 'shared' });
  const tied = await register(`${slug}.hand`, { scope: 'member', member: hand });
  const atDesk = await question(shared);
  const byHand = await question(tied);
  const outside = await question(ofHand);
  const ids = async (by: TestAgent) =>
    (await list(by)).body.approvals.map(({ id }: { id: string }) => id).toSorted();
  // Admins act as shared agents; only the person acts as a member agent.
  expect(await ids(ofBoss)).toEqual([atDesk]);
  expect(await ids(ofHand)).toEqual([byHand]);
  expect(await ids(twin)).toEqual([atDesk]);
  expect(await ids(shared)).toEqual([]);
  // An agent of the organization cannot access the person's agents outside of it.
  expect(await ids(tied)).toEqual([]);
  expect(await statusOf(tied, outside)).toBe(404);
  expect(await statusOf(tied, atDesk)).toBe(404);
  expect(await statusOf(shared, byHand)).toBe(404);
  expect(await statusOf(ofHand, byHand)).toBe(200);
  expect(await statusOf(twin, atDesk)).toBe(200);
});

test('approvals are paged and filtered by state', async () => {
  const { asker, decider } = await household();
  const created: string[] = [];
  for (const message of ['one', 'two', 'three']) created.unshift(await question(asker, message));
  await decide(decider, created[1] ?? '', 'deny');
  const seen = await readPages((query) => list(decider, query), { list: 'approvals', limit: 2 });
  expect(seen.map(({ id }) => id)).toEqual(created);
  const { body } = await list(decider, '?state=denied');
  expect(body.approvals).toMatchObject([{ id: created[1], state: 'denied' }]);
  expect((await list(decider, '?state=pending')).body.approvals).toHaveLength(2);
});
