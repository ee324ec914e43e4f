import { expect, test } from 'vitest';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import type { TestAgent } from '../../support/service.ts';
import { useService } from '../../support/service.ts';
import { uploadId } from '../attachments/setup.ts';
import { applyStoredDecisions, signInWithAgent } from '../console/signed-in-person.ts';
import type { FeedEvent } from '../../clients/feed.ts';
import { findForm } from '../../clients/form-browser.ts';
import { idOf, reviewsOf } from './setup.ts';

const service = useService();
const { setPolicy, pair, conversation, kinOf, send, pending, approve, deny, contents, noticed } =
  reviewsOf(service);

const key = 'one-key';

const resolved = async (agent: TestAgent) => {
  const { body } = await service.get(agent, '/events?cursor=earliest');
  return body.events.flatMap(({ type, data }: FeedEvent) => (type === 'approval.resolved' ? [data] : []));
};

test('a repeated call gets the same review while it waits, and its answer after it', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const [first, again] = [await send(mine, thread, {}, { key }), await send(mine, thread, {}, { key })];
  expect([first.status, again.status, idOf(again)]).toEqual([202, 202, idOf(first)]);
  expect((await send(mine, thread, { content: 'Other' }, { key })).body.error.code).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
  await approve(idOf(first));
  const sent = await send(mine, thread, {}, { key });
  expect([sent.status, sent.headers.get('Idempotency-Replayed')]).toEqual([201, 'true']);
  expect(await contents(stranger, thread)).toEqual(['May it leave?']);
  expect(await resolved(mine)).toEqual([
    expect.objectContaining({
      approval_id: idOf(first),
      action: 'send_message',
      target: stranger.handle,
      decision: 'approved',
      reason: null,
      result: expect.objectContaining({ id: sent.body.id, thread_id: thread, sequence: 1 }),
    }),
  ]);
});

test('the stored decision of a person keeps its approval past the expiry, for repeated calls too', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const contact = {
    agent_id: mine.id,
    action: 'request_contact',
    target: stranger.handle,
    detail: {},
  } as const;
  const ask = () => service.write((work) => openApproval(work, contact));
  const [held, asked] = [await send(mine, thread, {}, { key }), await ask()];
  const text = 'update approvals set expires_at = $2, effective_at = $2::bigint + 60000 where agent_id = $1';
  await service.sql(text, [mine.id, Date.now() - 1]);
  expect(idOf(await send(mine, thread, {}, { key }))).toBe(idOf(held));
  expect(await ask()).toMatchObject({ id: asked?.id, state: 'pending' });
});

test('two equal calls with their own keys stay two, and leave in the order of the decisions', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const [one, two] = [
    await send(mine, thread, { content: 'one' }),
    await send(mine, thread, { content: 'two' }),
  ];
  const [other, same] = [await send(mine, thread), await send(mine, thread)];
  expect(new Set([one, two, other, same].map(idOf)).size).toBe(4);
  for (const held of [two, one, same]) await approve(idOf(held));
  expect(await contents(stranger, thread)).toEqual(['two', 'one', 'May it leave?']);
});

test('under review_strangers the second message is free, each file and each other thread are not', async () => {
  const { mine, stranger, thread } = await conversation('review_strangers');
  await approve(idOf(await send(mine, thread)));
  expect((await send(mine, thread, { content: 'second' })).status).toBe(201);
  const file = await uploadId(service, mine);
  const withFile = await send(mine, thread, { attachment_ids: [file] });
  expect(withFile.status).toBe(202);
  await approve(idOf(withFile));
  expect((await send(mine, await service.thread(stranger, mine))).status).toBe(202);
  await setPolicy(mine, 'review_all');
  expect((await send(mine, thread)).status).toBe(202);
  await setPolicy(mine, 'review_strangers');
  expect((await send(mine, thread)).status).toBe(202);
  await setPolicy(mine, 'free');
  expect((await send(mine, thread)).status).toBe(201);
});

test('trust frees what goes to this agent, in every thread', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  await approve(idOf(await send(mine, thread)), { trust: true });
  expect((await send(mine, thread)).status).toBe(201);
  expect(
    (await service.post(mine, '/threads', { with_handle: stranger.handle, subject: 'New' })).status,
  ).toBe(201);
  const other = await service.agent();
  const group = await service.thread(other, mine, stranger);
  expect((await send(mine, group)).body.error.approval).toBeDefined();
  expect((await pending(mine)).at(-1)?.recipients).toEqual([other.handle]);
});

test('a person edits the text; it is marked, and the agent gets what was sent', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const held = await send(mine, thread, { content: 'Our secret is 7.' }, { key });
  for (const texts of [[' '], ['x'.repeat(32_769)], ['one', 'two'], ['\u0000']])
    await expect(approve(idOf(held), { texts })).rejects.toThrow();
  await approve(idOf(held), { texts: ['We have a secret.'] });
  const { body } = await service.get(stranger, `/threads/${thread}/messages`);
  expect(body.messages).toEqual([
    expect.objectContaining({ content: 'We have a secret.', written_by: 'person_edited' }),
  ]);
  expect((await send(mine, thread, { content: 'Our secret is 7.' }, { key })).body.content).toBe(
    'We have a secret.',
  );
  const rows = await service.sql(`select from approvals q where q.id = $1 and q::text ilike '%secret%'`, [
    idOf(held),
  ]);
  expect(rows).toEqual([]);
});

test('a denial gives the reason, to the agent only', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const before = await noticed(stranger);
  const held = await send(mine, thread, {}, { key });
  await deny(idOf(held), 'Too early.');
  const again = await send(mine, thread, {}, { key });
  expect([again.status, again.body.error.code]).toEqual([403, 'APPROVAL_DENIED']);
  expect(again.body.error.message).toContain('Too early.');
  expect(await resolved(mine)).toEqual([
    expect.objectContaining({ decision: 'denied', reason: 'Too early.', result: null }),
  ]);
  expect(await noticed(stranger)).toEqual(before);
});

test('a call that is no longer possible changes nothing, and can be denied', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const held = await send(mine, thread);
  await service.patch(stranger, `/threads/${thread}`, { status: 'closed' });
  await expect(approve(idOf(held))).rejects.toMatchObject({ code: 'THREAD_CLOSED' });
  expect(await pending(mine)).toHaveLength(1);
  await deny(idOf(held));
  expect(await contents(stranger, thread)).toEqual([]);
});

test('a member of another owner who joins later does not get what was approved for others', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const held = await send(mine, thread);
  const other = await service.agent();
  await service.post(stranger, `/threads/${thread}/members`, { handle: other.handle });
  await expect(approve(idOf(held))).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  await deny(idOf(held));
  expect(await contents(stranger, thread)).toEqual([]);
});

test('a call that a repetition has sent meanwhile is not sent again, and not denied', async () => {
  const { mine, stranger, thread } = await conversation('review_strangers');
  const [first, second] = [
    await send(mine, thread, { content: 'one' }),
    await send(mine, thread, {}, { key }),
  ];
  await approve(idOf(first));
  expect((await send(mine, thread, {}, { key })).status).toBe(201);
  await expect(approve(idOf(second))).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  await expect(deny(idOf(second))).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  expect(await contents(stranger, thread)).toEqual(['one', 'May it leave?']);
});

test('a decision and a repeated call at the same time send once', async () => {
  for (let round = 0; round < 8; round += 1) {
    const { mine, stranger, thread } = await conversation('review_strangers');
    const [first, second] = [
      await send(mine, thread, { content: 'one' }),
      await send(mine, thread, {}, { key }),
    ];
    await approve(idOf(first));
    await Promise.allSettled([approve(idOf(second)), send(mine, thread, {}, { key })]);
    expect(await contents(stranger, thread)).toEqual(['one', 'May it leave?']);
  }
});

test('a contact request to an agent that is a contact shows nothing either', async () => {
  const [mine, stranger] = await pair('free');
  await service.post(stranger, '/contacts/requests', { handle: mine.handle });
  await service.post(mine, `/contacts/requests/${stranger.handle}/approve`);
  await setPolicy(mine, 'review_all');
  const before = await noticed(stranger);
  await service.post(mine, '/contacts/requests', { handle: stranger.handle, message: 'secret' });
  expect(await noticed(stranger)).toEqual(before);
});

test('a person reads all that would leave', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const file = await uploadId(service, mine, { name: 'plan.txt', bytes: Buffer.from('plan') });
  const messages = [
    { content: 'one', metadata: { hidden: 'x' } },
    { content: 'two', reason: 'because', attachment_ids: [file] },
  ];
  await service.post(mine, `/threads/${thread}/messages:batch`, { messages });
  const [held] = await pending(mine);
  for (const part of [
    'one',
    'two',
    'Messages 1 metadata: {"hidden":"x"}',
    'Messages 2 reason: because',
    'plan.txt',
  ])
    expect(held?.message).toContain(part);
  expect(await contents(stranger, thread)).toEqual([]);
});

test('what would be refused anyway is refused, and waits for no person', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  await service.post(stranger, '/blocks', { handle: mine.handle });
  expect((await send(mine, thread)).status).toBe(403);
  expect((await send(mine, 'thd_none')).status).toBe(404);
  expect(await pending(mine)).toEqual([]);
});

test('an agent of another system is one of another owner, even if the own one added it', async () => {
  const [mine] = await pair('review_all');
  const remote = await kinOf(mine);
  const thread = await service.thread(mine, remote);
  expect((await send(mine, thread)).status).toBe(201);
  await service.sql(`update agents set scope = 'remote' where id = $1`, [remote.id]);
  expect((await send(mine, thread)).status).toBe(202);
});

test('a token cannot change the policy, neither of its agent nor of another one of its owner', async () => {
  const mine = await service.agent({ scopes: ['agents:write', 'agents:read'] });
  const me = await service.patch(mine, '/agents/me', { outgoing_policy: 'free' });
  const managed = await service.patch(mine, `/agents/${mine.id}`, { outgoing_policy: 'free' });
  expect([me.status, managed.status]).toEqual([400, 400]);
});

test('a withdrawn message leaves no text in its review', async () => {
  const { mine, thread } = await conversation('review_all');
  const held = await send(mine, thread, { content: 'walnutreview' }, { key });
  await approve(idOf(held));
  const { body } = await send(mine, thread, { content: 'walnutreview' }, { key });
  expect((await service.post(mine, `/messages/${body.id}/withdraw`)).status).toBe(200);
  for (const table of ['approvals', 'idempotency_keys', 'events', 'messages'])
    expect(await service.sql(`select from ${table} r where r::text ilike '%walnutreview%'`), table).toEqual(
      [],
    );
});

test('a person sets the policy, edits, trusts and denies in the console', async () => {
  const ada = await signInWithAgent(service);
  const settings = `/console/agents/${ada.mine.id}/settings`;
  const policy = findForm(await ada.go(settings), `${settings}/outgoing`);
  await ada.send(policy, { fields: { outgoing_policy: 'review_all' } });
  const stranger = await service.agent();
  const thread = await service.thread(stranger, ada.mine);
  const [one, two] = [
    await send(ada.mine, thread, { content: 'Draft' }),
    await send(ada.mine, thread, { content: '<b>No</b>' }),
  ];
  const decide = async (held: typeof one, fields: Record<string, string>) => {
    const address = `/console/approvals/${idOf(held)}`;
    const page = await ada.go(address);
    expect(page.visibleText).toContain(`wants to write to @${stranger.handle}`);
    const { decision: button = '', ...entered } = fields;
    const form = page.forms.find(({ buttons }) => buttons.some(({ value }) => value === button));
    await ada.send(form ?? expect.fail(), { fields: entered, button });
    await applyStoredDecisions(service);
    return (await ada.go(address)).visibleText;
  };
  expect(await decide(two, { decision: 'deny', reason: 'Be polite.' })).toContain('Be polite.');
  expect(await decide(one, { decision: 'trust', text_0: 'Final' })).toContain('approved it, and it was done');
  expect(await contents(stranger, thread)).toEqual(['Final']);
  expect((await send(ada.mine, thread)).status).toBe(201);
  const page = await ada.go(settings);
  expect(page.visibleText).toContain('Trusted for sending');
  await ada.send(findForm(page, `${settings}/trust`));
  expect((await send(ada.mine, thread)).status).toBe(202);
  // What the person writes as the agent needs no review.
  const conversationPage = `/console/conversations/${thread}`;
  await ada.send(findForm(await ada.go(conversationPage), `${conversationPage}/messages`), {
    fields: { content: 'Me' },
  });
  expect((await contents(stranger, thread)).at(-1)).toBe('Me');
});
