import { outcomeOf } from '../../clients/rest.ts';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { expect, test } from 'vitest';
import { createHousehold } from '../../clients/contacts.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { dayMs, firstUsageDay, startOfDay } from '../../../packages/core/src/domain/usage.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { searchIndexingHandler } from '../../../workers/search-indexing.ts';
import { type TestAgent, useService } from '../../support/service.ts';
import { sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';

const service = useService();

async function readUsage({ token }: { token: string }, query = '') {
  const { status, body } = await service.get({ token }, `/usage${query}`);
  expect(status).toBe(200);
  return body;
}

const traffic = (messages: number, bytes: number) => ({
  messages,
  bytes,
  estimated_tokens: Math.ceil(bytes / 4),
});
const usage = (sent: [number, number], received: [number, number], stopped_loops = 0) => ({
  sent: traffic(...sent),
  received: traffic(...received),
  stopped_loops,
});
const refer = ({ id, handle }: TestAgent) => ({ id, canonical_handle: handle });

test('counts messages and bytes by day, agent and counterpart, each message once', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const other = await service.agent();
  const group = await startThread(service, one, [two, other], { content: 'Grüße' });
  await sendTo(service, other, group, 'four');
  const pair = await startThread(service, other, [two], { content: 'x'.repeat(10) });
  await sendTo(service, two, pair, 'ok');
  await expect.poll(async () => (await readUsage(one)).total).toEqual(usage([2, 9], [4, 25]));
  const { days, agents, counterparts } = await readUsage(one);
  const today = new Date(startOfDay(Date.now())).toISOString().slice(0, 10);
  expect(days).toHaveLength(30);
  expect(days.at(-1)).toEqual({ date: today, ...usage([2, 9], [4, 25]) });
  expect(days.slice(0, -1).every((day: { sent: object }) => JSON.stringify(day.sent).includes(':0'))).toBe(
    true,
  );
  expect(agents).toEqual([
    { agent: refer(two), ...usage([1, 2], [3, 21]) },
    { agent: refer(one), ...usage([1, 7], [1, 4]) },
  ]);
  expect(counterparts).toEqual([
    { agent: refer(other), ...usage([2, 9], [3, 18]) },
    ...[
      { agent: refer(one), ...usage([0, 0], [1, 7]) },
      { agent: refer(two), ...usage([1, 7], [0, 0]) },
    ].toSorted((a, b) => (a.agent.id < b.agent.id ? -1 : 1)),
  ]);
  expect((await readUsage(one, `?agent=${two.handle}`)).total).toEqual(usage([1, 2], [3, 21]));
  expect((await readUsage(one, `?agent=${one.id}&counterpart=${other.id}`)).total).toEqual(
    usage([1, 7], [1, 4]),
  );
});

test('a job that runs again counts nothing twice', async () => {
  const [one] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const other = await service.agent();
  await startThread(service, other, [one], { content: 'once' });
  await expect.poll(async () => (await readUsage(one)).total.received.messages).toBe(1);
  const [event] = await service.sql<{ id: string }>(
    `select id from events where type = 'message.created' and recipients @> array[$1]`,
    [one.id],
  );
  const { handle } = searchIndexingHandler(service.core);
  const ids = [event?.id ?? ''];
  await Promise.all([handle({ ids }), handle({ ids })]);
  await service.sql(
    `insert into outbox (job, subject_id, due_at, created_at) values ('deliver-messages', $1, $2, 0)`,
    [event?.id, Date.now() + dayMs],
  );
  // Only the job that removes the row of the outbox counts.
  await Promise.all([handle({ ids }), handle({ ids }), handle({ ids })]);
  expect((await readUsage(one)).total.received.messages).toBe(2);
});

test('a message to many agents is one row for each day and sender', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const others = await Promise.all(Array.from({ length: 4 }, () => service.agent()));
  const [other, ...rest] = others as [TestAgent, ...TestAgent[]];
  const thread = await startThread(service, one, [two, ...others], { content: 'one' });
  for (const content of ['four', 'fives']) await sendTo(service, one, thread, content);
  await sendTo(service, other, thread, 'answer');
  await expect.poll(async () => (await readUsage(one)).total).toEqual(usage([3, 12], [5, 24]));
  const rows = await service.sql(
    `select sender_id, cardinality(recipients) as recipients, messages from usage_days where sender_id = any($1)`,
    [[one.id, two.id, ...others.map(({ id }) => id)]],
  );
  expect(rows).toHaveLength(2);
  expect(rows).toEqual(
    expect.arrayContaining([
      { sender_id: one.id, recipients: 5, messages: 3 },
      { sender_id: other.id, recipients: 5, messages: 1 },
    ]),
  );
  const { counterparts } = await readUsage(one, `?agent=${one.handle}`);
  expect(counterparts).toHaveLength(5);
  expect(counterparts[0]).toEqual({ agent: refer(other), ...usage([3, 12], [1, 6]) });
  for (const { id } of rest)
    expect((await readUsage(one, `?agent=${one.id}&counterpart=${id}`)).total).toEqual(
      usage([3, 12], [0, 0]),
    );
});

test('agents of others are not shown, and the scope must be named', async () => {
  const [one] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const [stranger] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const other = await service.agent();
  await startThread(service, other, [one]);
  await expect.poll(async () => (await readUsage(one)).total.received.messages).toBe(1);
  const nothing = { total: usage([0, 0], [0, 0]), agents: [], counterparts: [] };
  expect(await readUsage(stranger)).toMatchObject(nothing);
  for (const filter of [`agent=${one.id}`, `agent=${one.handle}`, 'agent=no.body', `counterpart=${one.id}`])
    expect(await readUsage(stranger, `?${filter}`)).toMatchObject(nothing);
  const { status, body } = await service.get(other, '/usage');
  expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  const wrong = await service.get(one, '/usage?agent=a%20b');
  expect(outcomeOf(wrong)).toBe('400 INVALID_HANDLE');
});

test('lists the 50 counterparts with the most bytes, and the others together', async () => {
  const [one] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const others = await Promise.all(Array.from({ length: 53 }, () => service.agent()));
  await service.sql(
    `insert into usage_days (sender_id, day, recipients_hash, recipients, messages, bytes)
        select id, $3, '', array[$2], 1, place * 10 from unnest($1::text[]) with ordinality a (id, place)`,
    [others.map(({ id }) => id), one.id, startOfDay(Date.now())],
  );
  const { counterparts, total } = await readUsage(one);
  expect(counterparts).toHaveLength(51);
  expect(counterparts[0].agent).toEqual(refer(others[52] as TestAgent));
  expect(counterparts[49].received.bytes).toBe(40);
  expect(counterparts[50]).toEqual({ agent: null, ...usage([0, 0], [3, 60]) });
  expect(total.received.messages).toBe(53);
});

test('days after the last 30 are neither shown nor kept', async () => {
  const [one] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const first = firstUsageDay(Date.now());
  await service.sql(
    `insert into usage_days (sender_id, day, recipients_hash, recipients, messages, bytes)
        select $1, day, '', '{}', 1, 4 from unnest($2::bigint[]) day`,
    [one.id, [first, first - dayMs]],
  );
  expect((await readUsage(one)).days[0].sent.messages).toBe(1);
  expect((await readUsage(one)).total.sent.messages).toBe(1);
  await maintenanceHandler(service.core).handle({ task: 'expire-usage' });
  const kept = await service.sql('select day from usage_days where sender_id = $1', [one.id]);
  expect(kept).toEqual([{ day: first }]);
});

test('an erased agent has no usage, not even as a counterpart', async () => {
  const [one, two] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const other = await service.agent();
  const thread = await startThread(service, other, [one], { content: 'from other' });
  await sendTo(service, one, thread, 'from one');
  const third = await service.agent();
  await startThread(service, one, [other, third], { content: 'to both' });
  await expect.poll(async () => (await readUsage(two)).total).toEqual(usage([2, 15], [1, 10]));
  const { unitOfWork } = service.core;
  await unitOfWork.write(system, (work) => work.db.erasure.removeOwnedRows(other.id));
  expect(await readUsage(two)).toMatchObject({
    total: usage([2, 15], [0, 0]),
    counterparts: [{ agent: refer(third), ...usage([1, 7], [0, 0]) }],
  });
  const hashes = await service.sql(
    `select 1 from usage_days where recipients_hash = sha256(convert_to($1, 'UTF8'))`,
    [other.id],
  );
  expect(hashes).toEqual([]);
  // Messages that are delivered after the erasure began are counted without the erased agent.
  const erasure = { id: newId('erasure'), agent_id: other.id, handle: other.handle, account_id: null };
  await unitOfWork.write(system, (work) => work.db.erasures.insert({ ...erasure, created_at: work.now }));
  await sendTo(service, other, thread, 'late');
  await sendTo(service, one, thread, 'late');
  await expect.poll(() => service.sql(`select 1 from outbox where job = 'deliver-messages'`)).toEqual([]);
  const refused = { sender_id: one.id, recipient_id: other.id };
  await service.core.db.usage.addStoppedLoops([refused], Date.now());
  expect(await readUsage(two)).toMatchObject({
    total: usage([3, 19], [0, 0]),
    counterparts: [{ agent: refer(third), ...usage([1, 7], [0, 0]) }],
  });
});

test('two agents that are erased at once both leave the same rows', async () => {
  const [one] = (await createHousehold(service, 'one', 'two')) as [TestAgent, TestAgent];
  const others = [await service.agent(), await service.agent()] as const;
  await startThread(service, one, others, { content: 'to both' });
  await expect.poll(async () => (await readUsage(one)).total).toEqual(usage([1, 7], [0, 0]));
  const { unitOfWork } = service.core;
  const remove = (id: string) => unitOfWork.write(system, (work) => work.db.erasure.removeOwnedRows(id));
  let second: Promise<unknown> | undefined;
  await unitOfWork.write(system, async (work) => {
    await work.db.erasure.removeOwnedRows(others[0].id);
    second = remove(others[1].id);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%usage_days%'`;
    await expect.poll(() => service.sql(waiting)).toHaveLength(1);
  });
  await second;
  expect(await readUsage(one)).toMatchObject({ total: usage([1, 7], [0, 0]), counterparts: [] });
});
