import { describe, expect, test } from 'vitest';
import { joinJobs, outboxJobs, packJobs, splitIds } from '../../src/jobs/outbox-jobs.ts';
import { handleJoinedIds } from '../../workers/consume-queues.ts';

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

  test('are packed into queue entries of at most a hundred ids, with an entry for each larger row', () => {
    const rows = range(6).flatMap((at) => joinJobs(range(40).map((id) => deliver(at * 40 + id))));
    const packed = packJobs(rows);
    const counts = packed.map(
      ({ payload }) => splitIds(outboxJobs['deliver-commits']?.payload.parse(payload).ids ?? []).length,
    );
    expect(counts).toEqual([80, 80, 80]);
    expect(new Set(packed.map(({ id }) => id)).size).toBe(3);
    expect(packJobs(rows)).toEqual(packed);
  });
});

describe('a worker that handles the jobs of commits', () => {
  async function handle(subjects: readonly string[], isBad: (id: string) => boolean) {
    const handled = new Set<string>();
    const completed: string[] = [];
    const outcome = await handleJoinedIds(subjects, {
      handle(ids) {
        const bad = ids.find(isBad);
        if (bad !== undefined) return Promise.reject(new Error(`${bad} is bad`));
        for (const id of ids) handled.add(id);
        return Promise.resolve();
      },
      complete(some) {
        completed.push(...some);
        return Promise.resolve();
      },
    }).catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
    return { handled: [...handled].sort(), completed: completed.sort(), outcome };
  }

  test('handles all ids, and completes all rows', async () => {
    expect(await handle(['a,b', 'c'], () => false)).toEqual({
      handled: ['a', 'b', 'c'],
      completed: ['a,b', 'c'],
      outcome: undefined,
    });
  });

  test('handles the others where one id is bad, and leaves only its row', async () => {
    expect(await handle(['a,b', 'c,d'], (id) => id === 'b')).toEqual({
      handled: ['a', 'c', 'd'],
      completed: ['c,d'],
      outcome: 'b is bad',
    });
  });
});
