import { connectTo } from '../../../support/servers/postgres/database.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMcpInstance, useMcpPair } from '../instance.ts';
import {
  acceptResult,
  answerElicitation,
  openElicitingSession,
  startToolCall,
  post,
  type RawSession,
} from '../../../clients/mcp/raw-elicitation.ts';

const [first, second, database] = useMcpPair();

const cancellation = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

let counter = 0;
/** A client that can show forms, at the first process, and a stranger. */
async function asker(at = first, elicitation: object = {}) {
  counter += 1;
  const [mine, stranger] = [`raw${counter}.agent`, `other${counter}.agent`];
  const token = await first.token(mine);
  await first.token(stranger);
  const sender: RawSession = {
    url: at.url,
    token,
    session: await openElicitingSession(at.url, token, elicitation),
  };
  return { mine, stranger, sender };
}

async function opened(sender: RawSession, id: number, handle: string, name = 'request_contact') {
  const call = await startToolCall(sender, id, name, { handle });
  onTestFinished(() => call.stream.close());
  return call;
}

const approvals = (handle: string) =>
  first.query(
    `select q.id, q.state, q.used_at is not null as used from approvals q
     join agents a on a.id = q.agent_id where a.canonical_handle = $1 order by q.id`,
    [handle],
  );
const requests = async (handle: string) =>
  (
    await first.query(
      `select 1 from contact_requests r join agents a on a.id = r.from_agent_id where a.canonical_handle = $1`,
      [handle],
    )
  ).length;

describe.each([
  ['at the process that asks', () => first],
  ['at another process', () => second],
])('an answer %s', (_name, other) => {
  test('counts, and only in the session and of the agent that was asked; others are told nothing', async () => {
    const { mine, stranger, sender } = await asker();
    const call = await opened(sender, 7, stranger);
    const id = await call.nextElicitation();
    const thief = (await asker()).sender;
    const sibling = await openElicitingSession(first.url, sender.token);
    const here = { ...sender, url: other().url };
    const wrong: RawSession[] = [
      { ...thief, url: other().url },
      { ...here, session: sibling },
    ];
    for (const one of wrong) expect(await answerElicitation(one, id)).toBe(202);
    // For another agent the session does not exist.
    expect(await answerElicitation({ ...here, token: thief.token }, id)).toBe(404);
    for (const unknown of [
      '',
      'x',
      `${id}x`,
      id.replace(/.$/, id.endsWith('A') ? 'B' : 'A'),
      `AAAAAAAAAAAA.${id.slice(13)}`,
    ]) {
      expect(await answerElicitation(here, unknown)).toBe(202);
    }
    // The next answer counts, so none of the answers before it did.
    expect(await answerElicitation(here, id, { action: 'decline' })).toBe(202);
    expect((await call.result(2)).error['code']).toBe('APPROVAL_DENIED');
    expect([await requests(mine), await approvals(mine)]).toMatchObject([0, [{ state: 'denied' }]]);
  });

  test('given twice, or when the question is over, changes nothing', async () => {
    const { mine, stranger, sender } = await asker();
    const here = { ...sender, url: other().url };
    const call = await opened(sender, 1, stranger);
    const id = await call.nextElicitation();
    expect(await Promise.all([answerElicitation(here, id), answerElicitation(here, id)])).toEqual([202, 202]);
    expect((await call.result(2)).isError).toBe(false);
    expect(await answerElicitation(here, id, { action: 'decline' })).toBe(202);
    expect([await requests(mine), await approvals(mine)]).toMatchObject([
      1,
      [{ state: 'approved', used: true }],
    ]);
  });

  test('in another form counts as no answer and causes no error, also with megabytes of filler', async () => {
    const { mine, stranger, sender } = await asker();
    const here = { ...sender, url: other().url };
    const call = await opened(sender, 1, stranger);
    const id = await call.nextElicitation();
    const padded = { action: 'maybe', content: { approve: true, filler: 'x'.repeat(3_000_000) } };
    expect(await answerElicitation(here, id, padded)).toBe(202);
    expect(await post(here, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no forms' } })).toBe(202);
    expect((await call.result(2)).error['code']).toBe('APPROVAL_REQUIRED');
    expect(await approvals(mine)).toMatchObject([{ state: 'pending' }]);
  });

  test('a call is not taken back by others, nor under another id', async () => {
    const { stranger, sender } = await asker();
    const here = { ...sender, url: other().url };
    const call = await opened(sender, 9, stranger);
    const id = await call.nextElicitation();
    const thief = (await asker()).sender;
    const sibling = await openElicitingSession(first.url, sender.token);
    expect(await post({ ...thief, url: other().url }, cancellation(9))).toBe(202);
    expect(await post({ ...here, session: sibling }, cancellation(9))).toBe(202);
    expect(await post(here, cancellation('9'))).toBe(202);
    // The answer is sent after them, to the same process.
    expect(await answerElicitation(here, id)).toBe(202);
    expect((await call.result(2)).isError).toBe(false);
  });

  test('a call is taken back: its stream ends without an answer, and the question waits', async () => {
    const { mine, stranger, sender } = await asker();
    const here = { ...sender, url: other().url };
    const call = await opened(sender, 9, stranger);
    const id = await call.nextElicitation();
    expect(await post(here, cancellation(9))).toBe(202);
    await call.stream.ended;
    const told = await call.stream.events(1);
    expect(told.map(({ data }) => JSON.parse(data).method)).toEqual([
      'elicitation/create',
      'notifications/cancelled',
    ]);
    expect(await answerElicitation(here, id)).toBe(202);
    expect([await requests(mine), await approvals(mine)]).toMatchObject([0, [{ state: 'pending' }]]);
  });
});

test.each([
  ['form', {}],
  ['url', { url: {} }],
])('the client goes away (%s): the question waits, and the same call asks it again', async (_name, ways) => {
  const { mine, stranger, sender } = await asker(first, ways);
  const gone = await opened(sender, 1, stranger);
  const id = await gone.nextElicitation();
  gone.stream.close();
  await gone.stream.ended;
  await expect.poll(async () => (await approvals(mine)).length).toBe(1);
  const again = await opened({ ...sender, url: second.url }, 2, stranger);
  expect(await again.nextElicitation()).not.toBe(id);
  await answerElicitation(sender, id);
  expect(await approvals(mine)).toMatchObject([{ state: 'pending' }]);
  await answerElicitation(sender, await again.nextElicitation());
  const [row] = await approvals(mine);
  if ('url' in ways) await first.decide(Object(row).id, 'approved');
  expect((await again.result('url' in ways ? 3 : 2)).isError).toBe(false);
  expect([await requests(mine), await approvals(mine)]).toMatchObject([
    1,
    [{ state: 'approved', used: true }],
  ]);
});

test('two calls at once with one approval: one effect, and two answers that agree', async () => {
  const { mine, stranger, sender } = await asker();
  const [one, other] = [
    await opened(sender, 1, stranger),
    await opened({ ...sender, url: second.url }, 2, stranger),
  ];
  const ids = [await one.nextElicitation(), await other.nextElicitation()];
  await Promise.all(ids.map((id) => answerElicitation(sender, id)));
  const results = await Promise.all([one.result(2), other.result(2)]);
  expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  expect(results[0]?.value).toEqual(results[1]?.value);
  expect([await requests(mine), await approvals(mine)]).toMatchObject([
    1,
    [{ state: 'approved', used: true }],
  ]);
});

test('a call with a key whose effect is there is answered from it, without a question', async () => {
  const { stranger, sender } = await asker();
  const args = { handle: stranger, idempotency_key: 'once' };
  const call = await startToolCall(sender, 1, 'request_contact', args);
  await answerElicitation(sender, await call.nextElicitation());
  const { value } = await call.result(2);
  const again = await startToolCall({ ...sender, url: second.url }, 2, 'request_contact', args);
  expect((await again.result(1)).value).toEqual(value);
  const other = await startToolCall(sender, 3, 'request_contact', { ...args, message: 'Hi' });
  expect((await other.result(1)).error['code']).toBe('IDEMPOTENCY_MISMATCH');
});

test('an approval whose key another call commits at the same moment is decided, and that call keeps its answer', async () => {
  const { mine, stranger, sender } = await asker();
  const args = { handle: stranger, idempotency_key: 'shared' };
  const call = await startToolCall(sender, 1, 'request_contact', args);
  onTestFinished(() => call.stream.close());
  await call.nextElicitation();
  const [pending] = await approvals(mine);
  const id = String(Object(pending).id);
  const other = await connectTo(database.url);
  await other.query('begin');
  await other.query(
    `insert into idempotency_keys (key_hash, request_hash, answer, created_at)
     select key_hash, '\\x00', 'of the other call', $2 from approvals where id = $1`,
    [id, Date.now()],
  );
  const decided = first.decide(id, 'approved');
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(async () => (await first.query(waiting, [])).length).toBe(1);
  await other.query('commit');
  await decided;
  expect([await requests(mine), await approvals(mine)]).toMatchObject([
    1,
    [{ state: 'approved', used: true }],
  ]);
  const stored = `select k.answer from approvals q join idempotency_keys k using (key_hash) where q.id = $1`;
  expect(await first.query(stored, [id])).toEqual([{ answer: 'of the other call' }]);
});

test('what the operation would refuse is refused before anybody is asked', async () => {
  const { mine, stranger, sender } = await asker();
  const cases: [string, string, string][] = [
    ['request_contact', 'missing.here', 'AGENT_NOT_FOUND'],
    ['request_contact', mine, 'VALIDATION_ERROR'],
    ['request_contact', 'no handle', 'INVALID_HANDLE'],
    ['remove_contact', stranger, 'CONTACT_NOT_FOUND'],
    ['remove_contact', 'missing.here', 'CONTACT_NOT_FOUND'],
  ];
  for (const [index, [name, handle, code]] of cases.entries()) {
    const call = await opened(sender, index, handle, name);
    expect((await call.result(1)).error['code']).toBe(code);
  }
  expect(await approvals(mine)).toEqual([]);
});

test('a process that stops answers its calls: the question waits, and another process continues it', async () => {
  const leaving = await startMcpInstance(database.url);
  const { mine, stranger, sender } = await asker(leaving);
  const call = await opened(sender, 1, stranger);
  await call.nextElicitation();
  const closed = leaving.close();
  await call.stream.ended;
  await closed;
  expect(await approvals(mine)).toMatchObject([{ state: 'pending' }]);
  const again = await opened({ ...sender, url: second.url }, 2, stranger);
  await answerElicitation({ ...sender, url: first.url }, await again.nextElicitation(), acceptResult);
  expect((await again.result(2)).isError).toBe(false);
});

test('nothing of this was a fault of ours', () => {
  expect([first, second].flatMap(({ loggedErrors }) => loggedErrors)).toEqual([]);
});
