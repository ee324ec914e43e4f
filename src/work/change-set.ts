import type { AuditEntry, Author } from '../domain/auth/audit.ts';
import type { FeedEntry, NewEvent } from '../domain/feed/events.ts';
import { newId } from '../domain/ids.ts';
import type { CommitRecord } from './commit.ts';
import type { EventRow } from '../repositories/feed/events.ts';
import type { MessageRow } from '../repositories/messages/messages.ts';

/** A message for all processes. */
export interface BusMessage {
  topic: string;
  body: string;
}

export interface OutboxJob {
  job: string;
  subject_id: string;
  /** The traceparent of what it is owed by, where that is traced. */
  trace?: string | undefined;
}

/**
 * What a commit changed for others: whose feed grew to which number and by what, which jobs are owed, and what else every process
 * should hear.
 */
export interface CommitResult {
  positions: { agent_id: string; last_number: number }[];
  /** Where the events stand in the feeds, in the order of each. */
  entries: FeedEntry[];
  /** The events as the log holds them; one about a message that was not at hand is left out. */
  events: EventRow[];
  jobs: OutboxJob[];
  messages: BusMessage[];
}

interface EmittedEvent extends NewEvent {
  id: string;
  message: MessageRow | null;
}

/** What one use case notes beside its rows, until the commit. */
export interface ChangeSet {
  author: Author;
  /** The agent who does this and may be told nothing of it. */
  actor_id: string | null;
  trace: string | undefined;
  events: EmittedEvent[];
  messages: BusMessage[];
  jobs: OutboxJob[];
  auditEntries: AuditEntry[];
  /** Statements that nobody waits for before the commit. */
  pendingStatements: Promise<unknown>[];
  /** With what the use case writes into it. */
  recorder: {
    audit(act: AuditEntry): void;
    emit(event: NewEvent, message?: MessageRow | null): void;
    publish(message: BusMessage): void;
    enqueue(job: OutboxJob): void;
    defer(statement: Promise<unknown>): void;
  };
}

export function openChangeSet(
  author: Author,
  trace: string | undefined,
  actor_id: string | null = null,
): ChangeSet {
  const events: EmittedEvent[] = [];
  const messages: BusMessage[] = [];
  const jobs: OutboxJob[] = [];
  const auditEntries: AuditEntry[] = [];
  const pendingStatements: Promise<unknown>[] = [];
  const recorder: ChangeSet['recorder'] = {
    audit: (act) => void auditEntries.push(act),
    emit: (event, message = null) => void events.push({ ...event, id: newId('event'), message }),
    publish: (message) => void messages.push(message),
    enqueue: (job) => void jobs.push({ ...job, trace }),
    defer(statement) {
      // Whoever fails before the commit has another reason to tell.
      statement.catch(() => undefined);
      pendingStatements.push(statement);
    },
  };
  return { author, actor_id, trace, events, messages, jobs, auditEntries, pendingStatements, recorder };
}

/** Milliseconds after which the sweep takes care of a job that nobody did. */
const jobGraceMs = 10_000;

/** What these notebooks leave behind, all of it with one commit. */
export function toCommitRecord(
  books: readonly ChangeSet[],
  now: number,
  jobsOf: (event: NewEvent & { id: string }) => OutboxJob[],
  keys: CommitRecord['keys'],
): CommitRecord & { jobs: OutboxJob[] } {
  const noted = books.flatMap(({ events, trace }) => events.map((event) => ({ event, trace })));
  return {
    now,
    touched: books.flatMap(({ actor_id }) => actor_id ?? []),
    job_grace: jobGraceMs,
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
      ...books.flatMap(({ jobs }) => jobs),
    ],
  };
}

/** What others are told of it once it is committed; null when it concerns nobody. */
export function toCommitResult(
  books: readonly ChangeSet[],
  { now, entries, jobs }: CommitRecord,
  positions: CommitResult['positions'],
): CommitResult | null {
  const messages = books.flatMap((book) => book.messages);
  if (positions.length === 0 && jobs.length === 0 && messages.length === 0) return null;
  return {
    positions,
    entries: toFeedEntries(entries, positions),
    events: toEventRows(books, now),
    jobs,
    messages,
  };
}

/** The last of an agent's entries has the last number of its feed, and those before it count down. */
function toFeedEntries(
  entries: readonly Omit<FeedEntry, 'number'>[],
  heads: CommitResult['positions'],
): FeedEntry[] {
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

function toEventRows(books: readonly ChangeSet[], created_at: number): EventRow[] {
  return books.flatMap(({ events, trace: traceparent = null }) => {
    const whole = events.filter(({ message_id, message }) => message_id === undefined || message !== null);
    return whole.map(({ id, type, thread_id = null, data = null, message }) => {
      return { id, type, thread_id, data, created_at, message, traceparent };
    });
  });
}
