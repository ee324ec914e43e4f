import { describe, expect, test } from 'vitest';
import type { LockedThread, WriterAudience } from '../../../src/repositories/messages/batches.ts';
import { createThreadCache, type Outcome } from '../../../src/services/messages/send-context/thread-cache.ts';

const thread = (last_sequence: number): LockedThread => ({
  id: 't1',
  status: 'active',
  created_by: 'ann',
  last_sequence,
  last_message_at: 1_000,
  last_sender_id: 'ann',
  updated_at: 1_000,
  has_questions: false,
});

const audience = (
  agent_id: string,
  relation_versions = [0, 0],
  member_ids = ['ann', 'bob'],
): WriterAudience => {
  const state = {
    paused: false,
    outgoing_policy: 'free' as const,
    retired: false,
    joined: true,
    listeners: [],
  };
  return { ...state, thread_id: 't1', agent_id, member_ids, relation_versions };
};

const read = (last_sequence: number, audiences: WriterAudience[], now = 1_000) => {
  return { thread: thread(last_sequence), exchanges: [], audiences, now };
};

/** As after a transaction that relied on the cache. */
const relied = (last_sequence: number, now = 1_000) => read(last_sequence, [], now);

const reserve = (cache: ReturnType<typeof createThreadCache>, id: string, writerIds: string[], now: number) =>
  cache.reserve(new Map([[id, writerIds]]), now)?.[0] ?? null;

describe('the cache of threads', () => {
  test('has no thread before a commit, nor a member that has not sent', () => {
    const cache = createThreadCache(() => undefined);
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    cache.store(read(1, [audience('ann')]));
    expect(reserve(cache, 't1', ['bob'], 1_000)).toBeNull();
    expect(reserve(cache, 't1', ['ann', 'bob'], 1_000)).toBeNull();
    expect(reserve(cache, 't1', ['ann'], 1_000)?.thread.last_sequence).toBe(1);
  });

  test('returns a thread once until it is stored again', () => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(1, [audience('ann')]));
    expect(reserve(cache, 't1', ['ann'], 1_000)).not.toBeNull();
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    cache.store(relied(2));
    expect(reserve(cache, 't1', ['ann'], 1_000)?.thread.last_sequence).toBe(2);
  });

  test('reports hit, miss and stale', () => {
    const outcomes: Outcome[] = [];
    const cache = createThreadCache((outcome) => outcomes.push(outcome));
    cache.store(read(1, [audience('ann')]));
    reserve(cache, 't1', ['ann'], 1_000);
    cache.store(relied(2));
    reserve(cache, 't1', ['ann'], 1_000);
    cache.store(read(4, [audience('ann')]));
    cache.store(read(5, [audience('ann')]));
    expect(outcomes).toEqual(['miss', 'hit', 'stale', 'miss']);
  });

  test('forgets each audience five seconds after it was read, however often the thread is used', () => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(1, [audience('ann')], 1_000));
    cache.store(read(2, [audience('bob')], 4_000));
    cache.store(relied(3, 5_900));
    expect(reserve(cache, 't1', ['ann'], 6_000)).toBeNull();
    expect(reserve(cache, 't1', ['bob'], 6_000)?.audiences.get('bob')?.agent_id).toBe('bob');
  });

  test.each([
    ['other relation versions', [0, 1], ['ann', 'bob']],
    ['other members', [0, 0], ['ann', 'cat']],
    ['one more member', [0, 0, 0], ['ann', 'bob', 'cat']],
  ])('drops the audiences that were read with %s', (_, versions, members) => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(1, [audience('ann')]));
    cache.store(read(2, [audience('bob', versions, members)]));
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    expect(reserve(cache, 't1', ['bob'], 1_000)?.audiences.get('bob')).toMatchObject({
      member_ids: members,
      relation_versions: versions,
    });
  });

  test('keeps the newest state when an older commit is answered later', () => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(2, [audience('ann')]));
    cache.store(read(1, [audience('ann')]));
    expect(reserve(cache, 't1', ['ann'], 1_000)?.thread.last_sequence).toBe(2);
  });

  test('asks for a longer row of matches each time another process has written, and for less after success', () => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(1, [audience('ann')]));
    const useOnce = (stored: number) => {
      cache.compare(thread(stored), audience('ann'));
      cache.store(read(stored + 1, [audience('ann')]));
      return stored + 1;
    };
    let sequence = useOnce(5); // 1 was left: one match is required
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    sequence = useOnce(sequence);
    expect(reserve(cache, 't1', ['ann'], 1_000)).not.toBeNull();
    sequence = useOnce(sequence + 3); // two matches
    sequence = useOnce(sequence);
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    sequence = useOnce(sequence);
    expect(reserve(cache, 't1', ['ann'], 1_000)).not.toBeNull();
    cache.store(relied(sequence + 1)); // one again
    sequence = useOnce(sequence + 4); // two
    sequence = useOnce(sequence);
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    useOnce(sequence);
    expect(reserve(cache, 't1', ['ann'], 1_000)).not.toBeNull();
  });

  test('asks for a match as well after other relation versions', () => {
    const cache = createThreadCache(() => undefined);
    cache.store(read(1, [audience('ann')]));
    cache.compare(thread(1), audience('ann', [0, 1]));
    cache.store(read(2, [audience('ann', [0, 1])]));
    expect(reserve(cache, 't1', ['ann'], 1_000)).toBeNull();
    cache.compare(thread(2), audience('ann', [0, 1]));
    cache.store(read(3, [audience('ann', [0, 1])]));
    expect(reserve(cache, 't1', ['ann'], 1_000)).not.toBeNull();
  });

  test('is limited by the growth of a thread too', () => {
    const cache = createThreadCache(() => undefined);
    const ids = Array.from({ length: 40 }, (_, at) => `t${at}`);
    for (const id of ids) {
      for (let writer = 0; writer < 256; writer += 1) {
        const own = { ...audience(`m${writer}`), thread_id: id };
        cache.store({ ...read(writer + 1, [own]), thread: { ...thread(writer + 1), id } });
      }
    }
    expect(reserve(cache, 't0', ['m0'], 1_000)).toBeNull();
    expect(reserve(cache, 't39', ['m0'], 1_000)).not.toBeNull();
  });

  test('is limited: the threads that were not used for the longest time are forgotten', () => {
    const cache = createThreadCache(() => undefined);
    const members = Array.from({ length: 200 }, (_, at) => `m${at}`);
    const versions = members.map(() => 0);
    for (let at = 0; at < 600; at += 1) {
      const id = `t${at}`;
      const own = { ...audience('m0', versions, members), thread_id: id };
      cache.store({ ...read(1, [own]), thread: { ...thread(1), id } });
    }
    expect(reserve(cache, 't0', ['m0'], 1_000)).toBeNull();
    expect(reserve(cache, 't599', ['m0'], 1_000)).not.toBeNull();
  });
});
