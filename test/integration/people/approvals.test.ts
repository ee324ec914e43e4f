import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import {
  type Approval,
  requireApprovalForPerson,
  decideAsPerson,
  findAnsweredCall,
  findApproval,
  listApprovals,
  openApproval,
  type OpenApproval,
} from '../../../src/services/approvals/approvals.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { codeOf, newUsername, openPeopleSetup } from './setup.ts';
import { use } from '../../support/use.ts';

const hour = 60 * 60 * 1000;
const setup = use(openPeopleSetup);

const agent = (handle: string, member?: string) =>
  setup.write((work) => registerAgentAsOperator(work, { handle, member, create_owner: true }));

/** A person with an agent, and the agent of a stranger. */
async function pair() {
  const person = await setup.person();
  const { id } = await agent(`${person.username}.own`);
  const target = `${newUsername('stranger')}.agent`;
  await agent(target);
  return { person, agent_id: id, target };
}

const ask = (input: OpenApproval, now = Date.now()) =>
  setup.write((work) => openApproval({ ...work, now }, input));

async function requestApproval(input: OpenApproval, now?: number): Promise<Approval> {
  const approval = await ask(input, now);
  if (!approval) throw new Error('no approval was requested');
  return approval;
}

const decide = (who: { account_id: string }, id: string, decision: 'approved' | 'denied', now = Date.now()) =>
  setup.write((work) => decideAsPerson({ ...work, now }, who.account_id, id, decision));
const list = (who: { account_id: string }, pending: boolean, before?: string) =>
  setup.read((work) => listApprovals(work, who.account_id, { pending, ...(before && { before }) }));

describe('a request', () => {
  test('has the agent, the action, the target, the message and the expiry', async () => {
    const { person, agent_id, target } = await pair();
    const approval = await requestApproval({
      agent_id,
      action: 'request_contact',
      target: `@${target.toUpperCase()}`,
      detail: { message: 'May I?', client_name: 'Some Program' },
    });
    expect(approval).toEqual({
      id: expect.stringMatching(/^apr_/),
      agent_id,
      agent_handle: `${person.username}.own`,
      agent_display_name: 'own',
      action: 'request_contact',
      target,
      is_review: false,
      recipients: [],
      reason: null,
      message: 'May I?',
      client_name: 'Some Program',
      state: 'pending',
      created_at: expect.any(Number),
      expires_at: approval.created_at + 24 * hour,
      decided_at: null,
      decided_via: null,
      decided_by: null,
      decided_by_agent: null,
      used_at: null,
      stored: null,
      answer: null,
    });
    expect(await setup.read((work) => findApproval(work, agent_id, approval.id))).toEqual(approval);
    expect(await list(person, true)).toEqual([approval]);
    expect(await list(person, false)).toEqual([]);
  });

  test('repeated is the same, also concurrently; with another message it is a new one', async () => {
    const { person, agent_id, target } = await pair();
    const input = { agent_id, action: 'request_contact', target, detail: { message: 'a' } } as const;
    const all = await Promise.all(Array.from({ length: 5 }, () => requestApproval(input)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    const other = await requestApproval({ ...input, detail: { message: 'b' } });
    const removal = await requestApproval({ ...input, action: 'remove_contact', detail: {} });
    expect((await list(person, true)).map(({ id }) => id)).toEqual([removal.id, other.id, all[0]?.id]);
  });

  test('about an agent of the same owner or organization needs no approval', async () => {
    const { person, agent_id } = await pair();
    const slug = newUsername('org');
    await setup.write((work) => createOrganization(work, slug));
    const [one, other] = [await agent(`${slug}.one`), await agent(`${slug}.other`)];
    await agent(`${person.username}.second`);
    const detail = {};
    expect(
      await ask({ agent_id, action: 'request_contact', target: `${person.username}.second`, detail }),
    ).toBeNull();
    expect(
      await ask({ agent_id: one.id, action: 'remove_contact', target: other.canonical_handle, detail }),
    ).toBeNull();
    expect(await list(person, true)).toEqual([]);
  });

  test('expires after 24 hours without a decision; then it can be made again', async () => {
    const { person, agent_id, target } = await pair();
    const input = { agent_id, action: 'remove_contact', target, detail: {} } as const;
    const past = Date.now() - 24 * hour - 1;
    const old = await requestApproval(input, past);
    expect(await list(person, true)).toEqual([]);
    expect(await list(person, false)).toEqual([{ ...old, state: 'expired' }]);
    expect(await codeOf(decide(person, old.id, 'approved'))).toBe('INVALID_TRANSITION');
    const fresh = await requestApproval(input);
    expect(fresh.id).not.toBe(old.id);
    expect((await list(person, false)).map(({ state }) => state)).toEqual(['expired']);
  });

  test('is one of at most fifty pending ones of an agent', async () => {
    const { agent_id, target } = await pair();
    const input = (message: string) =>
      ({ agent_id, action: 'request_contact', target, detail: { message } }) as const;
    for (let count = 0; count < 50; count += 1) await ask(input(`${count}`));
    const error: unknown = await ask(input('one more')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    expect((error as DomainError).retry_after).toBeGreaterThan(23 * 3600);
    // A pending request can be repeated, and an expired one makes room for another.
    expect(await requestApproval(input('7'))).toMatchObject({ state: 'pending' });
    expect(await requestApproval(input('one more'), Date.now() + 25 * hour)).toMatchObject({
      state: 'pending',
    });
  });
});

describe('a decision', () => {
  test('to approve runs the call as the agent, once, under its key', async () => {
    const { person, agent_id, target } = await pair();
    const claim = { key_hash: randomBytes(32), request_hash: randomBytes(32) };
    const detail = { message: 'May I?' };
    const input = { agent_id, action: 'request_contact', target, detail, claim } as const;
    const { id } = await requestApproval(input);
    const all = await Promise.all([1, 2, 3].map(() => decide(person, id, 'approved')));
    for (const decided of all)
      expect(decided).toMatchObject({
        state: 'approved',
        decided_by: person.username,
        used_at: expect.any(Number),
      });
    const answer = all[0]?.answer ?? '';
    expect(JSON.parse(answer)).toMatchObject({ to: { canonical_handle: target }, message: 'May I?' });
    expect(await setup.read(({ db }) => db.idempotencyKeys.find(claim.key_hash))).toMatchObject({ answer });
    const answered = { agent_id, action: 'request_contact', target, detail } as const;
    const findAnswer = (now: number) => setup.write((work) => findAnsweredCall({ ...work, now }, answered));
    expect(await findAnswer(Date.now())).toBe(answer);
    expect(await findAnswer(Date.now() + 25 * hour)).toBeUndefined();
  });

  test('to approve an action that is no longer possible says why, and changes nothing', async () => {
    const { person, agent_id, target } = await pair();
    const { id } = await requestApproval({ agent_id, action: 'remove_contact', target, detail: {} });
    const error: unknown = await decide(person, id, 'approved').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'INVALID_TRANSITION',
      message: expect.stringContaining('not one of your contacts'),
    });
    expect(await list(person, true)).toMatchObject([{ id, state: 'pending', used_at: null }]);
  });

  test('to deny lasts until the request would have expired: it cannot be requested again before', async () => {
    const { person, agent_id, target } = await pair();
    const input = { agent_id, action: 'request_contact', target, detail: {} } as const;
    const { id } = await requestApproval(input);
    await decide(person, id, 'denied');
    expect(await requestApproval(input)).toMatchObject({ id, state: 'denied' });
    expect(await list(person, true)).toEqual([]);
    expect(await requestApproval(input, Date.now() + 24 * hour + 1)).toMatchObject({ state: 'pending' });
  });

  test('is made once: repeating it changes nothing, another one is refused', async () => {
    const { person, agent_id, target } = await pair();
    const { id } = await requestApproval({ agent_id, action: 'request_contact', target, detail: {} });
    const both = await Promise.allSettled([decide(person, id, 'approved'), decide(person, id, 'denied')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [first] = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const firstDecision = first?.state === 'approved' ? 'approved' : 'denied';
    expect(await decide(person, id, firstDecision)).toEqual(first);
    expect(await codeOf(decide(person, id, firstDecision === 'approved' ? 'denied' : 'approved'))).toBe(
      'INVALID_TRANSITION',
    );
  });

  test('can be made by people who can act as the agent; for others the request does not exist', async () => {
    const slug = newUsername('org');
    const [admin, member, stranger] = [await setup.person(), await setup.person(), await setup.person()];
    await setup.write(async (work) => {
      await createOrganization(work, slug);
      await joinOrganization(work, { slug, username: admin.username, role: 'admin' });
      await joinOrganization(work, { slug, username: member.username, role: 'member' });
    });
    const { target } = await pair();
    const open = async (id: string) =>
      (await requestApproval({ agent_id: id, action: 'request_contact', target, detail: {} })).id;
    const shared = await open((await agent(`${slug}.shared`)).id);
    const ofMember = await open((await agent(`${slug}.of-member`, member.username)).id);
    const may: [{ account_id: string }, string, boolean][] = [
      [stranger, shared, false],
      [stranger, ofMember, false],
      [member, shared, false],
      [admin, ofMember, false],
      [member, ofMember, true],
      [admin, shared, true],
      [stranger, 'apr_00000000000000000000000000', false],
      [stranger, '\0', false],
    ];
    for (const [who, id, allowed] of may) {
      const seen = setup.read((work) => requireApprovalForPerson(work, who.account_id, id));
      expect(await codeOf(seen)).toBe(allowed ? 'no refusal' : 'NOT_FOUND');
      expect((await list(who, true)).some((approval) => approval.id === id)).toBe(allowed);
      expect(await codeOf(decide(who, id, 'denied'))).toBe(allowed ? 'no refusal' : 'NOT_FOUND');
    }
  });

  test('is not visible to another agent', async () => {
    const [one, other] = [await pair(), await pair()];
    const { id } = await requestApproval({
      agent_id: one.agent_id,
      action: 'request_contact',
      target: one.target,
      detail: {},
    });
    const find = (agent_id: string) => setup.read((work) => findApproval(work, agent_id, id));
    expect(await codeOf(find(one.agent_id))).toBe('no refusal');
    expect(await codeOf(find(other.agent_id))).toBe('NOT_FOUND');
  });
});

test('the list continues after an id', async () => {
  const { person, agent_id, target } = await pair();
  for (const message of ['a', 'b', 'c'])
    await ask({ agent_id, action: 'request_contact', target, detail: { message } });
  const [first, ...rest] = await list(person, true);
  expect(await list(person, true, first?.id)).toEqual(rest);
});
