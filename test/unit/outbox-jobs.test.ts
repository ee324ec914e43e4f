import { describe, expect, test } from 'vitest';
import { joinJobs, listIds } from '../../src/jobs/joined-rows.ts';
import { packJobs } from '../../src/jobs/outbox-jobs.ts';
import { handleRows } from '../../workers/consume-queues.ts';

const deliver = (number: number, trace?: string) => ({
  job: 'deliver-events',
  subject_id: `evt_${number}`,
  trace,
});

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('the jobs of a commit', () => {
  test('share a row for each kind; other kinds stay separate', () => {
    const scan = (id: string) => ({ job: 'scan-attachment', subject_id: id, trace: undefined });
    const message = { job: 'deliver-messages', subject_id: 'evt_9', trace: undefined };
    expect(joinJobs([deliver(1), message, deliver(2), scan('att_1'), scan('att_1'), deliver(3)])).toEqual([
      { ...deliver(1), more_ids: ['evt_2', 'evt_3'] },
      message,
      scan('att_1'),
      scan('att_1'),
    ]);
  });

  test('do not share a row with those of another trace', () => {
    expect(joinJobs([deliver(1, 'a'), deliver(2, 'b'), deliver(3, 'a')])).toEqual([
      { ...deliver(1, 'a'), more_ids: ['evt_3'] },
      deliver(2, 'b'),
    ]);
  });

  test('take several rows when they are many', () => {
    const rows = joinJobs(range(120).map((at) => deliver(at)));
    expect(rows.map((row) => listIds(row).length)).toEqual([50, 50, 20]);
    expect(rows.flatMap(listIds)).toEqual(range(120).map((at) => `evt_${at}`));
  });

  test('are packed into queue entries of at most a hundred ids, and the ids of a row stay together', () => {
    const rows = range(5).flatMap((at) => joinJobs(range(40).map((id) => deliver(at * 40 + id))));
    const packed = packJobs([...rows, deliver(900)]);
    const lists = packed.map(({ payload }) => (payload as { ids: string[] }).ids);
    expect(lists.map((ids) => ids.length)).toEqual([80, 80, 41]);
    expect(lists.flat()).toEqual([...range(200), 900].map((at) => `evt_${at}`));
    expect(new Set(packed.map(({ id }) => id)).size).toBe(3);
    expect(packJobs([deliver(1)])[0]?.id).toBe('deliver-events-evt_1');
  });
});

describe('a worker that handles the jobs of commits', () => {
  /** `rows` are the subjects of each row of the outbox. */
  async function handle(rows: readonly (readonly string[])[], isBad: (id: string) => boolean) {
    const handled = new Set<string>();
    let left = rows;
    const outcome = await handleRows(rows.flat(), {
      handle(ids) {
        const bad = ids.find(isBad);
        if (bad !== undefined) return Promise.reject(new Error(`${bad} is bad`));
        for (const id of ids) handled.add(id);
        return Promise.resolve();
      },
      complete(ids) {
        left = left.filter((row) => !row.every((id) => ids.includes(id)));
        return Promise.resolve();
      },
      async split() {
        await Promise.resolve();
        left = left.flatMap((row) => row.map((id) => [id]));
      },
    }).catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
    return { handled: [...handled].sort(), left, outcome };
  }

  test('handles all ids, and completes all rows', async () => {
    expect(await handle([['a', 'b'], ['c']], () => false)).toEqual({
      handled: ['a', 'b', 'c'],
      left: [],
      outcome: undefined,
    });
  });

  test('completes the others where one id is bad', async () => {
    const rows = [['a', 'b'], ['c'], ['d', 'e']];
    expect(await handle(rows, (id) => id === 'b')).toEqual({
      handled: ['a', 'c', 'd', 'e'],
      left: [['b']],
      outcome: 'b is bad',
    });
  });
});
