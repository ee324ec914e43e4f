import { describe, expect, test } from 'vitest';
import { joinJobs, splitIds, toRowNames } from '../../src/jobs/joined-rows.ts';
import { packJobs } from '../../src/jobs/outbox-jobs.ts';
import { handleRows } from '../../workers/consume-queues.ts';

const deliver = (number: number, trace?: string) => ({
  job: 'deliver-events',
  subject_id: `evt_${number}`,
  trace,
});

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('the jobs of a commit', () => {
  test('share a row for each kind; a single one keeps its name, and other kinds stay separate', () => {
    const scan = (id: string) => ({ job: 'scan-attachment', subject_id: id, trace: undefined });
    const index = { job: 'index-messages', subject_id: 'msg_1', trace: undefined };
    expect(joinJobs([deliver(1), index, deliver(2), scan('att_1'), scan('att_2')])).toEqual([
      { job: 'deliver-commits', subject_id: 'evt_1,evt_2', trace: undefined },
      index,
      scan('att_1'),
      scan('att_2'),
    ]);
  });

  test('have rows of two names', () => {
    expect(toRowNames('deliver-events')).toEqual(['deliver-events', 'deliver-commits']);
    expect(toRowNames('scan-attachment')).toEqual(['scan-attachment']);
  });

  test('do not share a row with those of another trace', () => {
    const joined = joinJobs([deliver(1, 'a'), deliver(2, 'b'), deliver(3, 'a')]);
    expect(joined.map(({ subject_id, trace }) => [subject_id, trace])).toEqual([
      ['evt_1,evt_3', 'a'],
      ['evt_2', 'b'],
    ]);
  });

  test('take several rows when their ids are too long for the key of one', () => {
    const ids = splitIds(joinJobs(range(120).map((at) => deliver(at))).map(({ subject_id }) => subject_id));
    expect(ids).toEqual(range(120).map((at) => `evt_${at}`));
    const id = `evt_${'0'.repeat(26)}`;
    for (const { subject_id } of joinJobs(range(120).map(() => ({ ...deliver(0), subject_id: id }))))
      expect(subject_id.length).toBeLessThan(2_700);
  });

  test('are packed with single ones into queue entries of at most a hundred ids, which older workers can read', () => {
    const rows = [
      ...range(5).flatMap((at) => joinJobs(range(40).map((id) => deliver(at * 40 + id)))),
      deliver(900),
    ];
    const packed = packJobs(rows);
    expect(packed.map(({ name }) => name)).toEqual(range(3).map(() => 'deliver-events'));
    const payloads = packed.map(({ payload }) => payload as { ids: string[]; rows?: string[] });
    expect(payloads.map(({ ids }) => ids.length)).toEqual([80, 80, 41]);
    expect(payloads.map(({ rows: own }) => own?.length)).toEqual([2, 2, 2]);
    expect(payloads.flatMap(({ rows: own = [] }) => splitIds(own))).toEqual(
      payloads.flatMap(({ ids }) => ids),
    );
    expect(new Set(packed.map(({ id }) => id)).size).toBe(3);
    expect(packJobs([deliver(1)])[0]?.payload).toEqual({ version: 1, ids: ['evt_1'] });
  });
});

describe('a worker that handles the jobs of commits', () => {
  async function handle(rows: readonly string[], isBad: (id: string) => boolean) {
    const handled = new Set<string>();
    const left = new Set(rows);
    const outcome = await handleRows(rows, {
      handle(ids) {
        const bad = ids.find(isBad);
        if (bad !== undefined) return Promise.reject(new Error(`${bad} is bad`));
        for (const id of ids) handled.add(id);
        return Promise.resolve();
      },
      complete(some) {
        for (const row of some) left.delete(row);
        return Promise.resolve();
      },
      split(row) {
        if (left.delete(row)) for (const id of splitIds([row])) left.add(id);
        return Promise.resolve();
      },
    }).catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
    return { handled: [...handled].sort(), left: [...left], outcome };
  }

  test('handles all ids, and completes all rows', async () => {
    expect(await handle(['a,b', 'c'], () => false)).toEqual({
      handled: ['a', 'b', 'c'],
      left: [],
      outcome: undefined,
    });
  });

  test.each([[['a,b', 'c,d']], [['a,b,c,d']], [['a,b', 'c', 'd']]])(
    'completes the others where one id is bad: %j',
    async (rows) => {
      expect(await handle(rows, (id) => id === 'b')).toEqual({
        handled: ['a', 'c', 'd'],
        left: ['b'],
        outcome: 'b is bad',
      });
    },
  );
});
