import type { TaskChange, TaskState } from '../packages/core/src/domain/tasks.ts';
import type { WebhookPost } from '../scripts/parts/webhook-receiver.ts';
import type { EventData, ReadTask, ReceivedEvent, ToldUpdate } from './event.ts';

/*
 * The record of a run, which the checker reads: the requests and their answers, the events that every reader saw, and the final state
 * of the service. Times are milliseconds since the epoch.
 */

/** A request that must take effect exactly once, attempted until it is acknowledged, with one idempotency key if it accepts one. */
export interface Attempt<Answer> {
  key: string;
  /** Id of the agent. */
  agent_id: string;
  begun_at: number;
  /** Time of the first acknowledgement. */
  acknowledged_at: number | null;
  attempts: number;
  /** All acknowledgements. They must be equal. */
  answers: Answer[];
}

export interface SentMessage {
  message_id: string;
  thread_id: string;
  sequence: number;
  /** The fields of the message in the answer. They must equal those of the stored message. */
  fields: EventData;
}

/** A message as its sender wrote it. */
export interface Draft {
  /** Different for every message. */
  content: string;
  content_type: 'text' | 'markdown';
  /** The id of a message in the same thread. */
  reply_to: string | null;
  metadata: Record<string, unknown>;
  attachment_ids: readonly string[];
}

/** How an operation is called: over REST, as an MCP tool, or with a `call` over a WebSocket. */
export type CallerName = 'REST' | 'tool' | 'call';

/** A message, sent to a thread or as the first message of a new one. */
export interface Send extends Attempt<SentMessage> {
  kind: CallerName | 'A2A' | 'batch' | 'opening';
  draft: Draft;
  /** The other members of a thread that the message opens. */
  others: readonly string[];
}

export interface ContactRequestAttempt extends Attempt<{ request_id: string }> {
  to: string;
}

export interface ReadMark extends Attempt<null> {
  kind: 'REST' | 'call';
  thread_id: string;
  /** At most the last sequence that was acknowledged before. */
  up_to_sequence: number;
}

/** The addition or removal of a member by `agent_id`. Only one at a time is attempted for a member of a thread. */
export interface MemberChange extends Attempt<null> {
  kind: 'added' | 'removed';
  thread_id: string;
  member_id: string;
}

/** A file that was uploaded to be sent in a message. */
export interface Upload extends Attempt<{ attachment_id: string }> {
  file: { filename: string; content_type: string; size_bytes: number; sha256: string };
}

/** A webhook for all events of an agent. The receiver accepts every request. */
export interface WebhookAttempt extends Attempt<{ webhook_id: string; secret: string }> {
  posts: WebhookPost[];
}

/** The answer to a write of a lease. `lost`: the lease had ended, and nothing was written. */
export type LeaseAnswer =
  | { lost: true }
  | {
      lost: false;
      /** When a renewed lease expires; otherwise null. */
      expires_at: number | null;
      /** The message that was sent with it, if any. */
      message: SentMessage | null;
    };

/** A write of a lease. It has no answer if its instance was killed, and perhaps took effect. */
export interface LeaseWrite extends Attempt<LeaseAnswer> {
  kind: 'renew' | 'release' | 'acknowledge' | 'send';
  /** The requested length of a renewed lease, in milliseconds; otherwise 0. */
  lease_ms: number;
  /** The message that is sent with it, if any. */
  draft: Draft | null;
}

/** A lease that an instance of an agent got, with everything that the instance wrote with it. */
export interface Lease {
  agent_id: string;
  /** The name of the instance. */
  consumer: string;
  kind: CallerName;
  /** What the instance did with it, for the report. */
  course: string;
  lease_id: string;
  fencing_token: number;
  attempt: number;
  /** When it expires unless it is renewed, by the clock of the service. */
  expires_at: number;
  /** When the claim was sent and answered. */
  sent_at: number;
  received_at: number;
  event_id: string;
  message_id: string;
  thread_id: string;
  sequence: number;
  /** In their order; the next one begins after the answer to the one before. */
  writes: LeaseWrite[];
}

/** A request to make a dead item ready again. Several instances may redrive one item. */
export interface Redrive extends Attempt<null> {
  event_id: string;
}

/** The answer to a call about a task. `ended`: the task had ended before, and the call changed nothing. */
export type TaskAnswer =
  | { ended: true }
  | { ended: false; task_id: string; state: TaskState; generation: number };

/** A call that opens a task, reports its state or cancels it. */
export interface TaskCall extends Attempt<TaskAnswer> {
  kind: 'open' | 'update' | 'cancel';
  /** The message that is sent with an update, if any. That of an opening is a `Send`. */
  draft: Draft | null;
}

/** A task that a client opened over A2A. */
export interface A2aTask {
  task_id: string;
  streams: number;
  /** What all streams told, in order of arrival. */
  seen: ToldUpdate[];
  /** At the end. */
  read: ReadTask | null;
}

/** The settings of an inbox, which is on from the first position of the agent's feed. Its items are the messages of others. */
export interface InboxSettings {
  agent_id: string;
  ordered_by_thread: boolean;
  max_attempts: number;
}

/** An event as seen by a reader or in a feed. */
export interface SeenEvent extends ReceivedEvent {
  /** Its number in the feed of the agent, decoded from its cursor. */
  number: number;
}

export interface ReaderHistory {
  agent_id: string;
  /** The transports that it uses. */
  name: string;
  /** Its first position. */
  start: number;
  /** All events that it received, over all connections, in order of arrival. */
  seen: (SeenEvent & { at: number })[];
  connections: Record<string, number>;
  /** Descriptions of what the service did wrong. */
  complaints: string[];
}

export interface FeedHistory {
  agent_id: string;
  start: number;
  events: SeenEvent[];
}

/** A message as a member reads it. */
export interface StoredMessage extends EventData {
  id: string;
  sequence: number;
  content: string;
}

/** The marks of a member of a thread. */
export interface StoredReceipt {
  agent_id: string;
  delivered: number;
  read: number;
  handled: number;
}

/** An inbox at the end of the run. */
export interface StoredInbox {
  agent_id: string;
  ready: number;
  leased: number;
  dead: { event_id: string; attempts: number }[];
}

/** One change of a task, as it is stored. */
export interface TaskUpdate {
  generation: number;
  change: TaskChange;
  state: TaskState;
  message_id: string | null;
  by_id: string | null;
}

/** A task as it is stored, with its changes in the order of their generations. */
export interface StoredTask {
  id: string;
  thread_id: string;
  message_id: string;
  client_id: string;
  agent_id: string;
  state: TaskState;
  generation: number;
  /** The token of the lease that made it `working`; null if the agent said so itself. */
  lease_token: number | null;
  /** Whether sends in its thread look at tasks. */
  has_questions: boolean;
  /** The ids of its messages. */
  message_ids: string[];
  updates: TaskUpdate[];
}

/** A thread as one of its members reads it. */
export interface StoredThread {
  thread_id: string;
  agent_id: string;
  members: string[];
  last_sequence: number;
  unread_count: number;
  /** Oldest first. */
  messages: StoredMessage[];
  receipts: StoredReceipt[];
  /** Ids of the messages that a search for the common word finds in it; null without a search. */
  found: string[] | null;
}

export interface FaultRecord {
  kind: string;
  begun_at: number;
  ended_at: number;
}

/** What the load requested. */
export interface LoadHistory {
  sends: Send[];
  contact_requests: ContactRequestAttempt[];
  marks: ReadMark[];
  member_changes: MemberChange[];
  uploads: Upload[];
  webhooks: WebhookAttempt[];
  inboxes: InboxSettings[];
  leases: Lease[];
  redrives: Redrive[];
  task_calls: TaskCall[];
  a2a_tasks: A2aTask[];
}

/** The state of the service at the end of the run. */
export interface FinalState {
  stored: StoredThread[];
  /** The feed of each agent from its first position on. */
  feeds: FeedHistory[];
  /** Ids of the requests in each agent's list of outgoing requests. */
  requests: { by: string; request_ids: string[] }[];
  /** Files that members downloaded. */
  downloads: { attachment_id: string; by: string; sha256: string }[];
  stored_inboxes: StoredInbox[];
  tasks: StoredTask[];
  /** The tasks of each agent, as it reads them. */
  read_tasks: { agent_id: string; tasks: Pick<StoredTask, 'id' | 'state' | 'generation'>[] }[];
  /** Descriptions of the jobs that are still in the outbox. */
  outbox: string[];
}

export interface History extends LoadHistory, FinalState {
  /** The threads that exist before the first send. The first member of a thread is never removed. */
  threads: { thread_id: string; members: readonly string[] }[];
  agents: readonly string[];
  readers: ReaderHistory[];
  /** Refusals and other things that must not happen. */
  complaints: string[];
}
