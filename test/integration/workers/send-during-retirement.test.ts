import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { expect, test } from 'vitest';
import { beginErasure } from '../../../src/services/agents/erasures.ts';
import { reindexStep } from '../../../src/services/messages/search-index.ts';
import { requestRest } from '../../clients/rest.ts';
import { type TestAgent, useService } from '../../support/service.ts';
import { connectTo } from '../../support/servers/postgres/database.ts';
const mine = "datname = current_database() and application_name = 'ams'";

// The test decides how long a session waits here; no timeout may end it.
const service = useService({
  env: { DATABASE_LOCK_SECONDS: '60', DATABASE_STATEMENT_SECONDS: '60' },
});

const beginErasureOf = ({ id, handle }: TestAgent) =>
  service.core.unitOfWork.write(system, (work) =>
    beginErasure(work, { id, canonical_handle: handle, retired: false }, null),
  );

test('what an agent sent during its retirement is erased as well', async () => {
  const { core, api } = service;
  // Feed counters are locked in the order of agent ids. The send must wait for Bob's and not hold Ann's, which her retirement locks.
  const [bob, ann] = [await service.agent(), await service.agent()];
  const opening = { with_handle: ann.handle, initial_message: 'before' };
  const thread = await requestRest('POST', `${api}/threads`, { token: bob.token, body: opening });
  const path = `${api}/threads/${thread.body.id}/messages`;

  // Changes of others are invisible to a second read in one transaction; so one transaction locks, the other reads.
  const [holder, watcher] = [
    await connectTo(core.config.DATABASE_URL),
    await connectTo(core.config.DATABASE_URL),
  ];
  const seen = async (condition: string) =>
    (await watcher.query(`select from pg_stat_activity where ${mine} and ${condition}`)).rowCount;
  // The send stops after the check and before the commit.
  await holder.query('begin');
  await holder.query('select from feed_heads where agent_id = $1 for update', [bob.id]);
  const sent = requestRest('POST', path, { token: ann.token, body: { content: 'while it went' } });
  await expect.poll(() => seen(`wait_event_type = 'Lock'`)).toBeGreaterThan(0);

  const { id } = await beginErasureOf(ann);
  // The worker lists the transactions in progress.
  await expect.poll(() => seen(`query like '%and xact_start < %'`)).toBeGreaterThan(0);
  expect((await core.db.erasures.find(id))?.stage).toBe('belongings');
  await holder.query('rollback');
  expect((await sent).status).toBe(201);

  await expect.poll(async () => (await core.db.erasures.find(id))?.stage).toBe('done');
  const list = await requestRest('GET', path, { token: bob.token });
  const contents: string[] = list.body.messages.map(({ content }: { content: string }) => content);
  expect(contents.toSorted()).toEqual(['', 'before']);
});

test('an index run that commits after the messages were erased leaves no search rows', async () => {
  const { core, api } = service;
  const [bob, ann] = [await service.agent(), await service.agent()];
  const opening = { with_handle: bob.handle, initial_message: 'a word of ann' };
  const thread = await requestRest('POST', `${api}/threads`, { token: ann.token, body: opening });
  expect(thread.status).toBe(201);
  const rows = () => service.sql('select from message_search where sender_id = $1', [ann.id]);
  await expect.poll(async () => (await rows()).length).toBe(1);
  await service.sql('delete from message_search where sender_id = $1', [ann.id]);

  // The erasure stops before it reaches the messages. The index run reads and writes then, and commits when they are erased.
  const holder = await connectTo(core.config.DATABASE_URL);
  await holder.query('begin');
  await holder.query('select from feed where agent_id = $1 for update', [ann.id]);
  const { id } = await beginErasureOf(ann);
  const stage = async () => (await core.db.erasures.find(id))?.stage;
  await expect.poll(stage).toBe('feed');
  await core.unitOfWork.write(system, async (work) => {
    await reindexStep(work, { after: '', all: true, limit: 1_000 });
    await holder.query('rollback');
    await expect.poll(stage).toBe('files');
  });
  await expect.poll(stage).toBe('done');
  expect(await rows()).toEqual([]);
});
