/*
 * What a run writes down, and the checker reads: what was asked for and acknowledged, what every reader saw, and what the
 * service says in the end. Times are milliseconds since the epoch.
 */

/** Something that must happen exactly once, tried under one idempotency key until it was acknowledged. */
export interface Attempt<Answer> {
  key: string;
  /** Id of the agent. */
  agent_id: string;
  begun_at: number;
  /** When the first acknowledgement came. */
  acknowledged_at: number | null;
  attempts: number;
  /** Every acknowledgement: that of a repeated try must be the first one again. */
  answers: Answer[];
}

export interface SentMessage {
  message_id: string;
  thread_id: string;
  sequence: number;
}

/** A message, sent alone or together with the thread that it opens. Its content is its own. */
export interface Send extends Attempt<SentMessage> {
  kind: 'REST' | 'tool' | 'opening';
  content: string;
  /** The other members of a thread that it opens. */
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

/** An event as a reader or a feed has it. */
export interface SeenEvent {
  event_id: string;
  type: string;
  /** Its number in the feed of the agent, as its cursor holds it. */
  number: number;
  /** What it is about: the message of message.created, the thread of thread.created, the request of contact.request. */
  subject: string | null;
}

export interface ReaderHistory {
  agent_id: string;
  /** The doors that it reads at. */
  name: string;
  /** Its first position. */
  start: number;
  /** Everything that it took, over all connections, in the order in which it came. */
  seen: (SeenEvent & { at: number })[];
  connections: Record<string, number>;
  /** What the service must not say or do to a reader, in words. */
  complaints: string[];
}

export interface StoredMessage {
  id: string;
  sequence: number;
  content: string;
}

/** A thread as one of its members finds it. */
export interface StoredThread {
  thread_id: string;
  agent_id: string;
  last_sequence: number;
  unread_count: number;
  /** Oldest first. */
  messages: StoredMessage[];
  /** Ids of the messages that a search for the word of all messages finds in it; null where nobody searched. */
  found: string[] | null;
}

export interface FaultRecord {
  kind: string;
  begun_at: number;
  ended_at: number;
}

export interface History {
  /** Members of the threads that were there before the first send. */
  threads: { thread_id: string; members: readonly string[] }[];
  agents: readonly string[];
  sends: Send[];
  contact_requests: ContactRequestAttempt[];
  marks: ReadMark[];
  readers: ReaderHistory[];
  /** Answers that say no, and other things that must not happen. */
  complaints: string[];
  /** In the end. */
  stored: StoredThread[];
  /** The feed of each agent from its first position on, read page by page in the end. */
  feeds: { agent_id: string; start: number; events: SeenEvent[] }[];
  /** Ids of the requests that each agent finds among those it made. */
  requests: { by: string; request_ids: string[] }[];
  /** Jobs that are still owed, each in words. */
  outbox: string[];
}
