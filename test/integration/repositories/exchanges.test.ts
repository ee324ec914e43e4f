import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { messageBatchesRepository } from '../../../src/repositories/messages/batches.ts';
import { openSharedService } from '../../support/service.ts';

/** A thread of four agents, in which all six pairs have answered each other. */
async function buildThread(last: number | null) {
  const service = await openSharedService();
  const agents = await Promise.all([1, 2, 3, 4].map(() => service.agent()));
  const ids = agents.map(({ id }) => id).toSorted();
  const thread_id = newId('thread');
  const { database } = service.core;
  await service.sql(
    `insert into threads (id, status, created_by, last_sender_id, created_at, updated_at) values ($1, 'active', $2, $3, 0, 0)`,
    [thread_id, ids[0], last === null ? null : ids[last]],
  );
  await service.sql(
    `insert into thread_exchanges (thread_id, one_id, other_id, exchanges, since)
             select $1, a, b, 1, 0 from unnest($2::text[]) a, unnest($2::text[]) b where a < b`,
    [thread_id, ids],
  );
  onTestFinished(async () => {
    await service.sql('delete from thread_exchanges where thread_id = $1', [thread_id]);
    await service.sql('delete from threads where id = $1', [thread_id]);
  });
  const writers = (...places: number[]) => places.map((at) => ({ thread_id, agent_id: ids[at] ?? '' }));
  const list = async (...lists: { thread_id: string; agent_id: string }[][]) => {
    const rows = await messageBatchesRepository(database).listExchanges(lists.flat());
    const own = rows.filter((row) => row.thread_id === thread_id);
    return [
      ...new Set(own.map((row) => `${ids.indexOf(row.one_id)}-${ids.indexOf(row.other_id)}`)),
    ].toSorted();
  };
  return { writers, list };
}

test('one writer has the pair with the last sender', async () => {
  const { writers, list } = await buildThread(2);
  expect(await list(writers(1))).toEqual(['1-2']);
  expect(await list(writers(3))).toEqual(['2-3']);
  expect(await list(writers(2))).toEqual([]);
});

test('several writers have all pairs among them and with the last sender: one of them can be refused', async () => {
  const { writers, list } = await buildThread(3);
  expect(await list(writers(2, 0, 1))).toEqual(['0-1', '0-2', '0-3', '1-2', '1-3', '2-3']);
});

test('writers of other threads are not in the pairs, and an empty thread has no last sender', async () => {
  const [one, other] = [await buildThread(null), await buildThread(1)];
  expect(await one.list(one.writers(0), other.writers(2), one.writers(3))).toEqual(['0-3']);
  expect(await other.list(one.writers(0), other.writers(2), one.writers(3))).toEqual(['1-2']);
});
