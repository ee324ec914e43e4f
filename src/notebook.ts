import type { Act, Author } from './domain/audit.ts';
import type { FeedEntry, NewEvent } from './domain/events.ts';
import { newId } from './domain/ids.ts';
import type { CommitRecord } from './repositories/commit.ts';
import type { EventRow } from './repositories/feed.ts';
import type { MessageRow } from './repositories/messages.ts';

/** A message for all processes. */
export interface BusMessage {
  topic: string;
  body: string;
}

export interface OwedJob {
  job: string;
  subject_id: string;
  /** The traceparent of what it is owed by, where that is traced. */
  trace?: string | undefined;
}

/**
 * What a commit changed for others: whose feed grew to which number and by what, which jobs are owed, and what else every process
 * should hear.
 */
export interface CommitNews {
  heads: { agent_id: string; last_number: number }[];
  /** Where the events stand in the feeds, in the order of each. */
  lines: FeedEntry[];
  /** The events as the log holds them; one about a message that was not at hand is left out. */
  events: EventRow[];
  jobs: OwedJob[];
  messages: BusMessage[];
}

interface NotedEvent extends NewEvent {
  id: string;
  message: MessageRow | null;
}

/** What one use case notes beside its rows, until the commit. */
export interface Notebook {
  author: Author;
  /** The agent who does this and may be told nothing of it. */
  actor_id: string | null;
  trace: string | undefined;
  events: NotedEvent[];
  messages: BusMessage[];
  owed: OwedJob[];
  acts: Act[];
  /** Statements that nobody waits for before the commit. */
  underWay: Promise<unknown>[];
  /** With what the use case writes into it. */
  pens: {
    note(act: Act): void;
    emit(event: NewEvent, message?: MessageRow | null): void;
    tell(message: BusMessage): void;
    owe(job: OwedJob): void;
    leave(statement: Promise<unknown>): void;
  };
}

export function openNotebook(
  author: Author,
  trace: string | undefined,
  actor_id: string | null = null,
): Notebook {
  const events: NotedEvent[] = [];
  const messages: BusMessage[] = [];
  const owed: OwedJob[] = [];
  const acts: Act[] = [];
  const underWay: Promise<unknown>[] = [];
  const pens: Notebook['pens'] = {
    note: (act) => void acts.push(act),
    emit: (event, message = null) => void events.push({ ...event, id: newId('event'), message }),
    tell: (message) => void messages.push(message),
    owe: (job) => void owed.push({ ...job, trace }),
    leave(statement) {
      // Whoever fails before the commit has another reason to tell.
      statement.catch(() => undefined);
      underWay.push(statement);
    },
  };
  return { author, actor_id, trace, events, messages, owed, acts, underWay, pens };
}

/** Milliseconds after which the sweep takes care of a job that nobody did. */
const jobGrace = 10_000;

/** What these notebooks leave behind, all of it with one commit. */
export function recordOf(
  books: readonly Notebook[],
  now: number,
  jobsOf: (event: NewEvent & { id: string }) => OwedJob[],
  keys: CommitRecord['keys'],
): CommitRecord & { jobs: OwedJob[] } {
  const noted = books.flatMap(({ events, trace }) => events.map((event) => ({ event, trace })));
  return {
    now,
    touched: books.flatMap(({ actor_id }) => actor_id ?? []),
    job_grace: jobGrace,
    keys,
    events: noted.map(({ event, trace }) => ({
      id: event.id,
      type: event.type,
      thread_id: event.thread_id ?? null,
      message_id: event.message_id ?? null,
      data: event.data ? JSON.stringify(event.data) : null,
      traceparent: trace ?? null,
    })),
    entries: noted.flatMap(({ event: { id, recipients } }) =>
      recipients.map((agent_id) => ({ agent_id, event_id: id })),
    ),
    jobs: [
      ...noted.flatMap(({ event, trace }) => jobsOf(event).map((job) => ({ ...job, trace }))),
      ...books.flatMap(({ owed }) => owed),
    ],
  };
}

/** What others are told of it once it is committed; null when it concerns nobody. */
export function newsOf(
  books: readonly Notebook[],
  { now, entries, jobs }: CommitRecord,
  heads: CommitNews['heads'],
): CommitNews | null {
  const messages = books.flatMap((book) => book.messages);
  if (heads.length === 0 && jobs.length === 0 && messages.length === 0) return null;
  return { heads, lines: linesOf(entries, heads), events: logged(books, now), jobs, messages };
}

/** The last of an agent's entries has the last number of its feed, and those before it count down. */
function linesOf(entries: readonly Omit<FeedEntry, 'number'>[], heads: CommitNews['heads']): FeedEntry[] {
  const next = new Map(heads.map(({ agent_id, last_number }) => [agent_id, last_number]));
  const lines: FeedEntry[] = [];
  for (const { agent_id, event_id } of entries.toReversed()) {
    const number = next.get(agent_id);
    if (number === undefined) continue;
    next.set(agent_id, number - 1);
    lines.push({ agent_id, number, event_id });
  }
  return lines.toReversed();
}

function logged(books: readonly Notebook[], created_at: number): EventRow[] {
  return books.flatMap(({ events, trace: traceparent = null }) => {
    const whole = events.filter(({ message_id, message }) => message_id === undefined || message !== null);
    return whole.map(({ id, type, thread_id = null, data = null, message }) => {
      return { id, type, thread_id, data, created_at, message, traceparent };
    });
  });
}
