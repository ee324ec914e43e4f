import {
  type DeliveredMark,
  type FeedRange,
  toDeliveredMark,
  type MessageRef,
} from '../domain/feed/receipts.ts';

/** Gathers what the doors of this process have delivered, and has it written from time to time. */
export interface Receipts {
  /** A door of this agent took these events. */
  delivered(agentId: string, events: readonly { message: MessageRef | null }[]): void;
  /** Agents said that they have these stretches of their feeds. */
  acknowledged(stretches: readonly FeedRange[]): void;
  /** Writes what is gathered, once, and gathers no more. */
  close(): Promise<void>;
}

export interface ReceiptsParts {
  /** Writes a batch, in one transaction. */
  write(batch: { marks: readonly DeliveredMark[]; acknowledged: readonly FeedRange[] }): Promise<void>;
  log(message: string, error: unknown): void;
  /** How long what is delivered first waits for company, in milliseconds; 1,000 by default. Marks of a large thread wait longer. */
  batch_wait_ms?: number;
  /** Marks that may wait while the database is away; those beyond are lost until something later moves them. */
  capacity?: number;
}

/** Marks in one transaction, at most, but for those of one thread, which stay together: one event tells of all of them. */
const maxMarksPerWrite = 500;
/** Lines of feeds that one transaction looks through, at most, and of one stretch. */
const maxEntriesPerWrite = { all: 5_000, each: 1_000 };

/**
 * Marks of one thread that are written after the usual time. More of them wait longer, up to ten times as long: the event that tells of
 * them names each, and goes to everybody who has written there. Of 200 members who all write it is 4 MB, and as many more frames.
 */
const smallThreadMarks = 20;
const maxWaits = 10;

/** The marks of one thread, by agent, and when the first of them came. */
interface ThreadMarks {
  agents: Map<string, number>;
  since: number;
}

/**
 * Receipts cost a delivery one look into a map. What comes within a second is written together: a mark for each thread and
 * agent, however many messages, doors and streams moved it.
 */
export function createReceipts(parts: ReceiptsParts): Receipts {
  const { write, log, batch_wait_ms = 1_000, capacity = 100_000 } = parts;
  const threads = new Map<string, ThreadMarks>();
  let size = 0;
  let stretches = new Map<string, FeedRange>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;
  let faults = 0;

  function schedule(): void {
    if (closed || timer || writing) return;
    // Uneven, so that processes do not write in step.
    timer = setTimeout(flush, batch_wait_ms * (0.75 + Math.random() / 2)).unref();
  }

  function note({ thread_id, agent_id, sequence }: DeliveredMark): void {
    const thread = threads.get(thread_id);
    const known = thread?.agents.get(agent_id);
    if (known !== undefined && known >= sequence) return;
    if (known === undefined) {
      if (size >= capacity) return;
      size += 1;
    }
    if (thread) thread.agents.set(agent_id, sequence);
    else threads.set(thread_id, { agents: new Map([[agent_id, sequence]]), since: Date.now() });
    schedule();
  }

  function noteStretch({ agent_id, after, upto }: FeedRange): void {
    const known = stretches.get(agent_id);
    if (!known && stretches.size >= capacity) return;
    stretches.set(agent_id, {
      agent_id,
      after: Math.min(after, known?.after ?? after),
      upto: Math.max(upto, known?.upto ?? upto),
    });
    schedule();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    writing = writeAll(takeMarks()).finally(() => {
      writing = undefined;
      if (size > 0 || stretches.size > 0) schedule();
    });
  }

  /** Takes out the marks whose time has come; all of them before there is no room for more. */
  function takeMarks({ all = size > capacity / 2 } = {}): DeliveredMark[][] {
    const now = Date.now();
    const taken: DeliveredMark[][] = [];
    for (const [thread_id, { agents, since }] of threads) {
      const gatherings = Math.min(agents.size / smallThreadMarks, maxWaits);
      // The timer has waited for one of them.
      if (!all && now - since < (gatherings - 1) * batch_wait_ms) continue;
      threads.delete(thread_id);
      size -= agents.size;
      taken.push([...agents].map(([agent_id, sequence]) => ({ thread_id, agent_id, sequence })));
    }
    return taken;
  }

  /** What cannot be written waits for the next time, together with what has come meanwhile. */
  async function writeAll(threadMarks: readonly DeliveredMark[][]): Promise<void> {
    const batches = batchesOf(threadMarks, [...stretches.values()]);
    stretches = new Map();
    for (const [index, batch] of batches.entries()) {
      try {
        await write(batch);
        faults = 0;
      } catch (error) {
        faults += 1;
        if (faults === 1) log('receipts could not be written; they will be', error);
        for (const rest of batches.slice(index)) {
          rest.marks.forEach(note);
          rest.acknowledged.forEach(noteStretch);
        }
        return;
      }
    }
  }

  return {
    delivered(agentId, events) {
      if (closed) return;
      for (const { message } of events) {
        const mark = toDeliveredMark(agentId, message);
        if (mark) note(mark);
      }
    },
    acknowledged(given) {
      if (!closed) given.forEach(noteStretch);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await writing;
      await writeAll(takeMarks({ all: true }));
    },
  };
}

interface Batch {
  marks: DeliveredMark[];
  acknowledged: FeedRange[];
}

function batchesOf(threads: readonly DeliveredMark[][], stretches: readonly FeedRange[]): Batch[] {
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
  let lines = 0;
  for (const stretch of stretches) {
    acknowledged.push(stretch);
    lines += Math.min(stretch.upto - stretch.after, maxEntriesPerWrite.each);
    if (lines < maxEntriesPerWrite.all) continue;
    batches.push({ marks: [], acknowledged });
    acknowledged = [];
    lines = 0;
  }
  if (acknowledged.length > 0) batches.push({ marks: [], acknowledged });
  return batches;
}
