import type { AuditEntry, Author } from '../../packages/core/src/domain/auth/audit.ts';
import { ConcurrentChange } from '../../packages/core/src/domain/errors.ts';
import type { FeedEntry, NewEvent } from '../../packages/core/src/events/feed-event.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import { joinJobs } from '../jobs/joined-rows.ts';
import type { EventRow } from '../repositories/feed/events.ts';
import type { MessageRow } from '../repositories/messages/messages.ts';
import type { CommitRecord } from './commit.ts';

/** A message on the bus, for all processes. */
export interface BusMessage {
  topic: string;
  body: string;
}

export interface OutboxJob {
  job: string;
  subject_id: string;
  /** Further subjects (`joinJobs`). */
  more_ids?: readonly string[] | null | undefined;
  /** The traceparent of the request that enqueued the job, if it is traced. */
  trace?: string | undefined;
}

/** What a commit changed that streams, workers and other processes must know. */
export interface CommitResult {
  positions: { agent_id: string; last_number: number }[];
  /** The new feed entries, in order within each feed. */
  entries: FeedEntry[];
  /** The events as stored. An event about a message is missing if `emit` did not get the message. */
  events: EventRow[];
  jobs: OutboxJob[];
  messages: BusMessage[];
  /** Messages for the listeners of this process only. */
  local_messages: BusMessage[];
}

interface EmittedEvent extends NewEvent {
  id: string;
  message: MessageRow | null;
}

/**
 * Collects what a use case changes besides its rows. All of it is committed with the rows, or none of it. The methods are bound, so
 * a unit of work can hand them on.
 */
export class ChangeSet {
  readonly author: Author;
  /** The traceparent of the request, if it is traced. */
  readonly trace: string | undefined;
  readonly events: EmittedEvent[] = [];
  readonly messages: BusMessage[] = [];
  readonly jobs: OutboxJob[] = [];
  readonly auditEntries: AuditEntry[] = [];
  readonly localMessages: BusMessage[] = [];
  readonly pendingStatements: Promise<unknown>[] = [];
  readonly keys: CommitRecord['keys'] = [];
  readonly expectedRelations = new Map<string, number>();
  readonly committedCallbacks: (() => void)[] = [];

  constructor(author: Author, trace: string | undefined) {
    this.author = author;
    this.trace = trace;
  }

  /** Adds an entry to the audit log. */
  readonly audit = (entry: AuditEntry): void => {
    this.auditEntries.push(entry);
  };

  /** Adds an event to the feeds of its recipients. With `message`, readers in this process need not load the message again. */
  readonly emit = (event: NewEvent, message: MessageRow | null = null): void => {
    this.events.push({ ...event, id: newId('event'), message });
  };

  /** Sends a message on the bus after the commit. It can get lost, so the database must hold the same fact. */
  readonly publish = (message: BusMessage): void => {
    this.messages.push(message);
  };

  /** Sends a message to the listeners of this process after the commit. It is lost if the process dies before. */
  readonly publishLocally = (message: BusMessage): void => {
    this.localMessages.push(message);
  };

  /** Adds a job to the outbox. It stays there until a worker has done it. */
  readonly enqueue = (job: OutboxJob): void => {
    this.jobs.push({ ...job, trace: this.trace });
  };

  /** Stores the answer of a part of the call, such as one message of a batch, under its own idempotency key. */
  readonly storeAnswer = (key: CommitRecord['keys'][number]): void => {
    this.keys.push(key);
  };

  /**
   * Makes the commit fail with ConcurrentChange unless the relations of an agent have this version.
   * @throws {ConcurrentChange} when another version of them is expected
   */
  readonly expectRelations = (agentId: string, version: number): void => {
    const expected = this.expectedRelations.get(agentId) ?? version;
    if (expected !== version) throw new ConcurrentChange();
    this.expectedRelations.set(agentId, version);
  };

  /** Calls back after the commit, before the use case's caller has its result. Must not throw. */
  readonly afterCommit = (callback: () => void): void => {
    this.committedCallbacks.push(callback);
  };

  /** Registers a statement that the use case does not await. The commit awaits it, and fails if it fails. */
  readonly defer = (statement: Promise<unknown>): void => {
    // If the use case fails first, nothing awaits this statement: its rejection must not end the process.
    statement.catch(() => undefined);
    this.pendingStatements.push(statement);
  };
}

/** The part of a change set that a use case gets. */
export type Recorder = Pick<
  ChangeSet,
  | 'audit'
  | 'emit'
  | 'publish'
  | 'publishLocally'
  | 'enqueue'
  | 'defer'
  | 'storeAnswer'
  | 'expectRelations'
  | 'afterCommit'
>;

/** Milliseconds until the outbox sweep enqueues a job again that no worker has done. */
const jobGraceMs = 10_000;

interface RecordOptions {
  now: number;
  /** Agents whose feed counter gets a new row version without a new entry. */
  touched: readonly string[];
  raised: CommitRecord['raised'];
  keys: CommitRecord['keys'];
  jobOf(event: NewEvent & { id: string }): OutboxJob;
}

/** What one commit writes for these change sets. */
export function toCommitRecord(
  changeSets: readonly ChangeSet[],
  { now, touched, raised, keys, jobOf }: RecordOptions,
): CommitRecord & { jobs: OutboxJob[] } {
  const emitted = changeSets.flatMap(({ events, trace }) => events.map((event) => ({ event, trace })));
  return {
    now,
    touched,
    raised,
    expected_relations: new Map(changeSets.flatMap(({ expectedRelations }) => [...expectedRelations])),
    job_grace: jobGraceMs,
    keys,
    events: emitted.map(({ event, trace }) => ({
      id: event.id,
      type: event.type,
      thread_id: event.thread_id ?? null,
      message_id: event.message_id ?? null,
      data: event.data ? JSON.stringify(event.data) : null,
      traceparent: trace ?? null,
    })),
    entries: emitted.flatMap(({ event: { id, recipients } }) =>
      recipients.map((agent_id) => ({ agent_id, event_id: id })),
    ),
    jobs: joinJobs([
      ...emitted.map(({ event, trace }) => ({ ...jobOf(event), trace })),
      ...changeSets.flatMap(({ jobs }) => jobs),
    ]),
  };
}

/** What to publish after the commit; null if there is nothing. */
export function toCommitResult(
  changeSets: readonly ChangeSet[],
  { now, entries, jobs }: CommitRecord,
  positions: CommitResult['positions'],
): CommitResult | null {
  const messages = changeSets.flatMap((changes) => changes.messages);
  const local_messages = changeSets.flatMap((changes) => changes.localMessages);
  if (positions.length + jobs.length + messages.length + local_messages.length === 0) return null;
  return {
    positions,
    entries: numberEntries(entries, positions),
    events: toEventRows(changeSets, now),
    jobs,
    messages,
    local_messages,
  };
}

/** The last entry of an agent gets the last number of its feed; the entries before it count down from there. */
function numberEntries(
  entries: readonly Omit<FeedEntry, 'number'>[],
  positions: CommitResult['positions'],
): FeedEntry[] {
  const next = new Map(positions.map(({ agent_id, last_number }) => [agent_id, last_number]));
  const numbered: FeedEntry[] = [];
  for (const { agent_id, event_id } of entries.toReversed()) {
    const number = next.get(agent_id);
    if (number === undefined) continue;
    next.set(agent_id, number - 1);
    numbered.push({ agent_id, number, event_id });
  }
  return numbered.toReversed();
}

function toEventRows(changeSets: readonly ChangeSet[], created_at: number): EventRow[] {
  return changeSets.flatMap(({ events, trace: traceparent = null }) => {
    const complete = events.filter(({ message_id, message }) => message_id === undefined || message !== null);
    return complete.map(({ id, type, thread_id = null, data = null, message }) => {
      return { id, type, thread_id, data, created_at, message, traceparent };
    });
  });
}
