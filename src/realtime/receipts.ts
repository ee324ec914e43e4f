import {
  type DeliveredMark,
  type FeedRange,
  toDeliveredMark,
  type MessageRef,
} from '../../packages/core/src/domain/feed/receipts.ts';
import { steadyNow } from '../shared/clock.ts';
import { withTimeout } from '../shared/timeout.ts';

/** Collects what the transports of this process have delivered, and writes it from time to time. */
export interface Receipts {
  /** A transport has sent these events to the agent. */
  delivered(agentId: string, events: readonly { message: MessageRef | null }[]): void;
  /** Agents have acknowledged these ranges of their feeds. */
  acknowledged(ranges: readonly FeedRange[]): void;
  /** Writes what is pending, once, and ignores further calls. A write that waits for a lock does not delay it for long. */
  close(): Promise<void>;
}

export interface ReceiptsParts {
  /** Writes a batch in one transaction. */
  write(batch: { marks: readonly DeliveredMark[]; acknowledged: readonly FeedRange[] }): Promise<void>;
  log(message: string, error: unknown): void;
  /** How long deliveries are collected before they are written, in milliseconds; 1,000 by default. Longer for large threads. */
  batch_wait_ms?: number;
  /** Maximum pending marks while the database is unavailable. More are dropped, until a later delivery moves the same mark. */
  capacity?: number;
}

interface Batch {
  marks: DeliveredMark[];
  acknowledged: FeedRange[];
}

const closeTimeoutMs = 1_500;
/** Maximum marks in one transaction. Those of one thread stay together, even if there are more: they cause one event. */
const maxMarksPerWrite = 500;
/** Maximum feed entries that one transaction reads, in all ranges and in each. */
const maxEntriesPerWrite = { all: 5_000, each: 1_000 };

/**
 * Marks of one thread that are written after the normal wait. More marks wait in proportion, up to ten times as long: the event
 * names each mark and goes to every member that has written in the thread. For 200 such members it is 4 MB in total.
 */
const smallThreadMarks = 20;
const maxWaits = 10;

/**
 * A delivery costs one lookup in a map. Everything within a second is written together: one mark for each thread and agent,
 * however many messages, transports and streams moved it.
 */
export function createReceipts(parts: ReceiptsParts): Receipts {
  const { write, log, batch_wait_ms = 1_000, capacity = 100_000 } = parts;
  const marks = createPendingMarks(capacity, batch_wait_ms);
  const ranges = createPendingRanges(capacity);
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;
  let failures = 0;

  function schedule(): void {
    if (closed || timer || writing) return;
    // Jitter keeps processes from writing at the same moment.
    timer = setTimeout(flush, batch_wait_ms * (0.75 + Math.random() / 2)).unref();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    writing = writeBatches(toBatches(marks.takeDue(), ranges.take())).finally(() => {
      writing = undefined;
      if (!marks.isEmpty() || !ranges.isEmpty()) schedule();
    });
  }

  /** After a failure the rest becomes pending again. */
  async function writeBatches(batches: readonly Batch[]): Promise<void> {
    for (const [index, batch] of batches.entries()) {
      try {
        await write(batch);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) log('cannot write receipts; they are kept and retried', error);
        for (const rest of batches.slice(index)) {
          for (const mark of rest.marks) addMark(mark);
          for (const range of rest.acknowledged) addRange(range);
        }
        return;
      }
    }
  }

  function addMark(mark: DeliveredMark): void {
    if (marks.add(mark)) schedule();
  }

  function addRange(range: FeedRange): void {
    if (ranges.add(range)) schedule();
  }

  async function writeAll(): Promise<void> {
    await writing;
    await writeBatches(toBatches(marks.takeAll(), ranges.take()));
  }

  return {
    delivered(agentId, events) {
      if (closed) return;
      for (const { message } of events) {
        const mark = toDeliveredMark(agentId, message);
        if (mark) addMark(mark);
      }
    },
    acknowledged(acknowledgedRanges) {
      if (closed) return;
      for (const range of acknowledgedRanges) addRange(range);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await withTimeout(closeTimeoutMs, writeAll(), () =>
        log('cannot write all receipts in time; later ones move the same marks', undefined),
      );
    },
  };
}

/** The marks of one thread, by agent. */
interface ThreadMarks {
  agents: Map<string, number>;
  /** When the first mark was added, in epoch milliseconds. */
  since: number;
}

function createPendingMarks(capacity: number, batchWaitMs: number) {
  const threads = new Map<string, ThreadMarks>();
  let size = 0;

  function take(isDue: (thread: ThreadMarks) => boolean): DeliveredMark[][] {
    const taken: DeliveredMark[][] = [];
    for (const [thread_id, thread] of threads) {
      const { agents } = thread;
      if (!isDue(thread)) continue;
      threads.delete(thread_id);
      size -= agents.size;
      taken.push([...agents].map(([agent_id, sequence]) => ({ thread_id, agent_id, sequence })));
    }
    return taken;
  }

  const takeAll = () => take(() => true);

  return {
    isEmpty: () => size === 0,
    /** Returns false when the mark changes nothing, or there is no room for it. */
    add({ thread_id, agent_id, sequence }: DeliveredMark): boolean {
      const thread = threads.get(thread_id);
      const current = thread?.agents.get(agent_id);
      if (current !== undefined && current >= sequence) return false;
      if (current === undefined) {
        if (size >= capacity) return false;
        size += 1;
      }
      if (thread) thread.agents.set(agent_id, sequence);
      else threads.set(thread_id, { agents: new Map([[agent_id, sequence]]), since: steadyNow() });
      return true;
    },
    /** Takes the marks of each thread that has waited long enough; all of them when half of the capacity is used. */
    takeDue(): DeliveredMark[][] {
      if (size > capacity / 2) return takeAll();
      const now = steadyNow();
      return take(({ agents, since }) => {
        const waits = Math.min(agents.size / smallThreadMarks, maxWaits);
        // The timer has waited once.
        return now - since >= (waits - 1) * batchWaitMs;
      });
    },
    takeAll,
  };
}

function createPendingRanges(capacity: number) {
  let ranges = new Map<string, FeedRange>();

  return {
    isEmpty: () => ranges.size === 0,
    /** Extends the range of the agent. Returns false when there is no room for it. */
    add({ agent_id, after, upto }: FeedRange): boolean {
      const range = ranges.get(agent_id);
      if (!range && ranges.size >= capacity) return false;
      ranges.set(agent_id, {
        agent_id,
        after: Math.min(after, range?.after ?? after),
        upto: Math.max(upto, range?.upto ?? upto),
      });
      return true;
    },
    take(): FeedRange[] {
      const taken = [...ranges.values()];
      ranges = new Map();
      return taken;
    },
  };
}

function toBatches(threads: readonly DeliveredMark[][], ranges: readonly FeedRange[]): Batch[] {
  const batches: Batch[] = [];
  let marks: DeliveredMark[] = [];
  for (const thread of threads) {
    for (const mark of thread) marks.push(mark);
    if (marks.length < maxMarksPerWrite) continue;
    batches.push({ marks, acknowledged: [] });
    marks = [];
  }
  if (marks.length > 0) batches.push({ marks, acknowledged: [] });
  let acknowledged: FeedRange[] = [];
  let entries = 0;
  for (const range of ranges) {
    acknowledged.push(range);
    entries += Math.min(range.upto - range.after, maxEntriesPerWrite.each);
    if (entries < maxEntriesPerWrite.all) continue;
    batches.push({ marks: [], acknowledged });
    acknowledged = [];
    entries = 0;
  }
  if (acknowledged.length > 0) batches.push({ marks: [], acknowledged });
  return batches;
}
