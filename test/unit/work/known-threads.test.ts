import { describe, expect, test } from 'vitest';
import type { LockedThread, WriterAudience } from '../../../src/repositories/messages/batches.ts';
import { createKnownThreads, type ThreadSource } from '../../../src/work/known-threads.ts';

const thread = (last_sequence: number): LockedThread => ({
  id: 't1',
  status: 'active',
  created_by: 'ann',
  last_sequence,
  last_message_at: 1_000,
  last_sender_id: 'ann',
  updated_at: 1_000,
});

const audience = (
  agent_id: string,
  relation_versions = [0, 0],
  member_ids = ['ann', 'bob'],
): WriterAudience => {
  const state = { paused: false, retired: false, joined: true, listeners: [] };
  return { ...state, thread_id: 't1', agent_id, member_ids, relation_versions };
};

const read = (last_sequence: number, audiences: WriterAudience[], now = 1_000) => {
  return { thread: thread(last_sequence), exchanges: [], audiences, now };
};

/** As after a transaction that relied on the memory. */
const relied = (last_sequence: number, now = 1_000) => read(last_sequence, [], now);

describe('known threads', () => {
  test('know nothing of a thread before a commit, nor of a member that has not sent', () => {
    const known = createKnownThreads(() => undefined);
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    known.remember(read(1, [audience('ann')]));
    expect(known.take('t1', ['bob'], 1_000)).toBeNull();
    expect(known.take('t1', ['ann', 'bob'], 1_000)).toBeNull();
    expect(known.take('t1', ['ann'], 1_000)?.thread.last_sequence).toBe(1);
  });

  test('return a thread once until it is remembered again', () => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(1, [audience('ann')]));
    expect(known.take('t1', ['ann'], 1_000)).not.toBeNull();
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    known.remember(relied(2));
    expect(known.take('t1', ['ann'], 1_000)?.thread.last_sequence).toBe(2);
  });

  test('report whether a commit relied on them, had read, or had read because they were wrong', () => {
    const sources: ThreadSource[] = [];
    const known = createKnownThreads((source) => sources.push(source));
    known.remember(read(1, [audience('ann')]));
    known.take('t1', ['ann'], 1_000);
    known.remember(relied(2));
    known.take('t1', ['ann'], 1_000);
    known.remember(read(4, [audience('ann')]));
    known.remember(read(5, [audience('ann')]));
    expect(sources).toEqual(['read', 'memory', 'wrong', 'read']);
  });

  test('forget each audience five seconds after it was read, however often the thread is used', () => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(1, [audience('ann')], 1_000));
    known.remember(read(2, [audience('bob')], 4_000));
    known.remember(relied(3, 5_900));
    expect(known.take('t1', ['ann'], 6_000)).toBeNull();
    expect(known.take('t1', ['bob'], 6_000)?.audiences.get('bob')?.agent_id).toBe('bob');
  });

  test.each([
    ['other relation versions', [0, 1], ['ann', 'bob']],
    ['other members', [0, 0], ['ann', 'cat']],
    ['one more member', [0, 0, 0], ['ann', 'bob', 'cat']],
  ])('drop the audiences that were read with %s', (_, versions, members) => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(1, [audience('ann')]));
    known.remember(read(2, [audience('bob', versions, members)]));
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    expect(known.take('t1', ['bob'], 1_000)?.audiences.get('bob')).toMatchObject({
      member_ids: members,
      relation_versions: versions,
    });
  });

  test('keep the newest state when an older commit is answered later', () => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(2, [audience('ann')]));
    known.remember(read(1, [audience('ann')]));
    expect(known.take('t1', ['ann'], 1_000)?.thread.last_sequence).toBe(2);
  });

  test('ask for a longer row of matches each time another process has written, and for less after success', () => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(1, [audience('ann')]));
    const useOnce = (stored: number) => {
      known.observe(thread(stored), audience('ann'));
      known.remember(read(stored + 1, [audience('ann')]));
      return stored + 1;
    };
    let sequence = useOnce(5); // 1 was left: one match is required
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    sequence = useOnce(sequence);
    expect(known.take('t1', ['ann'], 1_000)).not.toBeNull();
    sequence = useOnce(sequence + 3); // two matches
    sequence = useOnce(sequence);
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    sequence = useOnce(sequence);
    expect(known.take('t1', ['ann'], 1_000)).not.toBeNull();
    known.remember(relied(sequence + 1)); // one again
    sequence = useOnce(sequence + 4); // two
    sequence = useOnce(sequence);
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    useOnce(sequence);
    expect(known.take('t1', ['ann'], 1_000)).not.toBeNull();
  });

  test('ask for a match as well after other relation versions', () => {
    const known = createKnownThreads(() => undefined);
    known.remember(read(1, [audience('ann')]));
    known.observe(thread(1), audience('ann', [0, 1]));
    known.remember(read(2, [audience('ann', [0, 1])]));
    expect(known.take('t1', ['ann'], 1_000)).toBeNull();
    known.observe(thread(2), audience('ann', [0, 1]));
    known.remember(read(3, [audience('ann', [0, 1])]));
    expect(known.take('t1', ['ann'], 1_000)).not.toBeNull();
  });

  test('are limited by the growth of a thread too', () => {
    const known = createKnownThreads(() => undefined);
    const ids = Array.from({ length: 40 }, (_, at) => `t${at}`);
    for (const id of ids) {
      for (let writer = 0; writer < 256; writer += 1) {
        const own = { ...audience(`m${writer}`), thread_id: id };
        known.remember({ ...read(writer + 1, [own]), thread: { ...thread(writer + 1), id } });
      }
    }
    expect(known.take('t0', ['m0'], 1_000)).toBeNull();
    expect(known.take('t39', ['m0'], 1_000)).not.toBeNull();
  });

  test('are limited: the threads that were not used for the longest time are forgotten', () => {
    const known = createKnownThreads(() => undefined);
    const members = Array.from({ length: 200 }, (_, at) => `m${at}`);
    const versions = members.map(() => 0);
    for (let at = 0; at < 600; at += 1) {
      const id = `t${at}`;
      const own = { ...audience('m0', versions, members), thread_id: id };
      known.remember({ ...read(1, [own]), thread: { ...thread(1), id } });
    }
    expect(known.take('t0', ['m0'], 1_000)).toBeNull();
    expect(known.take('t599', ['m0'], 1_000)).not.toBeNull();
  });
});
