import { encodeTime } from 'ulid';
import { createTextGenerator, createSeededRandom } from './vocabulary.ts';

export interface ThreadPosition {
  id: string;
  members: readonly [string, string];
  /** The number of messages in the thread. */
  last_sequence: number;
}

/** Columns of one batch of messages; no value contains a line break. */
export interface Batch {
  id: string[];
  thread_id: string[];
  sequence: number[];
  sender_id: string[];
  content: string[];
  created_at: number[];
}

export interface RowGenerator {
  vocabulary: readonly string[];
  /** The next messages, in order of time. Updates `last_sequence` of their threads. */
  next(count: number): Batch;
}

/** One message every 30 seconds: a million messages take most of a year. */
const stepMs = 30_000;
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Generates the same history in each run. A few threads have most of the messages: the first of 2,000 has about 8 %. */
export function createRowGenerator(threads: ThreadPosition[], start: number): RowGenerator {
  const random = createSeededRandom(20_000);
  const texts = createTextGenerator(random);
  let written = 0;

  function append(batch: Batch): void {
    const thread = threads[Math.floor(threads.length * random() ** 3)];
    if (!thread) throw new Error('there are no threads');
    const created_at = start + written * stepMs;
    const tail = Array.from({ length: 16 }, () => crockford.charAt(Math.floor(random() * 32))).join('');
    written += 1;
    thread.last_sequence += 1;
    batch.id.push(`msg_${encodeTime(created_at, 10)}${tail}`);
    batch.thread_id.push(thread.id);
    batch.sequence.push(thread.last_sequence);
    batch.sender_id.push(thread.members[random() < 0.5 ? 0 : 1]);
    batch.content.push(texts.next());
    batch.created_at.push(created_at);
  }
  return {
    vocabulary: texts.vocabulary,
    next(count) {
      const batch: Batch = {
        id: [],
        thread_id: [],
        sequence: [],
        sender_id: [],
        content: [],
        created_at: [],
      };
      for (let number = 0; number < count; number += 1) append(batch);
      return batch;
    },
  };
}
