/*
 * The record of a run, which the checker reads: the requests and their answers, the events that every reader saw, and the final state
 * of the service. Times are milliseconds since the epoch.
 */

/** A request that must take effect exactly once, attempted with one idempotency key until it is acknowledged. */
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
}

/** A message with unique content, sent to a thread or as the first message of a new one. */
export interface Send extends Attempt<SentMessage> {
  kind: 'REST' | 'tool' | 'opening';
  content: string;
  /** The other members of a thread that the message opens. */
  others: readonly string[];
}

export interface ContactRequestAttempt extends Attempt<{ request_id: string }> {
  to: string;
}

export interface ReadMark {
  by: string;
  thread_id: string;
  up_to_sequence: number;
}

/** An event as seen by a reader or in a feed. */
export interface SeenEvent {
  event_id: string;
  type: string;
  /** Its number in the feed of the agent, decoded from its cursor. */
  number: number;
  /** Id of its object: the message of message.created, the thread of thread.created, the request of contact.request. */
  subject: string | null;
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

export interface StoredMessage {
  id: string;
  sequence: number;
  content: string;
  sender: { id: string };
}

/** A thread as one of its members reads it. */
export interface StoredThread {
  thread_id: string;
  agent_id: string;
  last_sequence: number;
  unread_count: number;
  /** Oldest first. */
  messages: StoredMessage[];
  /** Ids of the messages that a search for the common word finds in it; null without a search. */
  found: string[] | null;
}

export interface FaultRecord {
  kind: string;
  begun_at: number;
  ended_at: number;
}

export interface History {
  /** The threads that exist before the first send. */
  threads: { thread_id: string; members: readonly string[] }[];
  agents: readonly string[];
  sends: Send[];
  contact_requests: ContactRequestAttempt[];
  marks: ReadMark[];
  readers: ReaderHistory[];
  /** Refusals and other things that must not happen. */
  complaints: string[];
  /** The threads at the end of the run. */
  stored: StoredThread[];
  /** The feed of each agent from its first position on, read at the end of the run. */
  feeds: { agent_id: string; start: number; events: SeenEvent[] }[];
  /** Ids of the requests in each agent's list of outgoing requests. */
  requests: { by: string; request_ids: string[] }[];
  /** Descriptions of the jobs that are still in the outbox. */
  outbox: string[];
}
