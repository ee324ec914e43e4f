import type { Actor } from '../../packages/core/src/domain/auth/actor.ts';
import type { EventType } from '../../packages/core/src/events/list.ts';
import type { MessageRef } from '../../packages/core/src/domain/feed/receipts.ts';
import type { CommitResult } from '../work/change-set.ts';

/** An event as one receiver gets it. `data` is shared by all receivers of the event: never change it. */
export interface LiveEvent {
  id: string;
  type: EventType;
  /** The receiver's feed position after this event. */
  cursor: string;
  /** The agent whose event it is, for a reader of several agents. */
  agent_id?: string;
  created_at: number;
  thread_id: string | null;
  /** The message that the event is about, if any. */
  message: MessageRef | null;
  data: object;
  /** `data` as JSON text, serialized once for all receivers. */
  data_json: string;
  /** W3C Trace Context of the request that caused the event, if it was traced. */
  traceparent?: string;
}

/** The fields of an event that a transport sends. */
export type ShownEvent = Pick<
  LiveEvent,
  'id' | 'type' | 'cursor' | 'agent_id' | 'created_at' | 'data_json' | 'traceparent'
>;

/** `position_expired`: the events after the reader's position are no longer kept. It gets a gap when it reconnects. */
export type StreamEnd = 'token_ended' | 'shutdown' | 'position_expired' | 'failed';

/** How events leave the process: a WebSocket, an MCP stream, or a request that waits for them. */
export type StreamTransport = 'ws' | 'mcp' | 'poll';

/** The consumer of a stream: a WebSocket connection or an SSE response. */
export interface StreamReader {
  readonly transport: StreamTransport;
  /** Whether the agent gets the content of events, so that they count as delivered. Default: true. */
  readonly showsContent?: false;
  /** Whether the reader wants this event, which its scopes already allow. Absent: it wants every event. */
  wants?(event: LiveEvent): boolean;
  /**
   * Receives events in order. The next batch comes when the returned promise resolves, or immediately when there is none:
   * resolve it when there is room for more. Events count as delivered from then on, unless `showsContent` is false.
   */
  deliver(events: readonly LiveEvent[]): Promise<void> | undefined;
  /** No more events follow. */
  onEnded(reason: StreamEnd): void;
}

export interface OpenStream {
  /** The position up to which events were delivered or skipped; before `start`, where the stream starts. Signed at each read. */
  readonly cursor: string;
  /** Whether it starts at the given cursor or the acknowledged position, not at the end of the feed. */
  readonly resumed: boolean;
  /** Whether events after the position where it starts are no longer kept. */
  readonly gap: boolean;
  /** Starts delivery: first the events after `cursor`, then new events, without a gap or a repetition in between. */
  start(): void;
  close(): void;
}

export interface EventPage {
  events: LiveEvent[];
  cursor: string;
  /** False when the feed already holds more events after `cursor`. */
  complete: boolean;
  gap: boolean;
}

export interface FeedStatus {
  cursor: string;
  /** How many events the next wait without a cursor returns, up to 100: without the messages of the agent itself. */
  pending_events: number;
  /** Present if there are more than 100, or if there may be more. */
  pending_events_more?: true;
}

/** Where the next wait of a caller starts. */
export interface WaitPosition {
  /** The latest of these counts; without one, the acknowledged position, or the oldest event. */
  cursors: readonly (string | undefined)[];
  /** Ids of messages, and of other events, after the position that the caller has received. */
  returned: readonly string[];
}

/** The counter of a feed when it was last read. */
export interface FeedHead {
  last_number: number | null;
  acknowledged_number: number | null;
}

/** A call that waits for items of its agent's inbox. */
export interface InboxWatch {
  /**
   * Resolves when the feed is beyond `after`, when the inbox was notified since the last wait, or at `until` (epoch milliseconds).
   * @throws {DomainError} UNAUTHORIZED when the token has ended; UNAVAILABLE when the process stops
   */
  wait(options: { after: number; until: number; signal: AbortSignal | undefined }): Promise<void>;
  close(): void;
}

/** Measures how long new events take to reach streams that are up to date. Called for each page of each stream: keep it fast. */
export interface StreamMetrics {
  /** `notifiedAt` (epoch milliseconds): when the stream was notified of the first of these events. */
  onWritten(transport: StreamTransport, events: readonly LiveEvent[], notifiedAt: number): void;
}

interface PageOptions {
  cursor?: string | undefined;
  limit: number;
  wait_ms: number;
  signal?: AbortSignal;
}

/** Reads the feeds of all agents whose conversations a credential may read, without being one of them. */
export interface OwnerWatch {
  /** @throws {DomainError} INVALID_CURSOR, RATE_LIMITED, UNAUTHORIZED, VALIDATION_ERROR (too many agents) */
  page(actor: Actor, options: PageOptions): Promise<EventPage>;
  /** @throws {DomainError} as page */
  open(
    actor: Actor,
    options: { cursor?: string | undefined },
    reader: StreamReader,
  ): Promise<OpenStream & { pending_events: number }>;
}

/** Reads feeds for every transport in the process. */
export interface Realtime {
  /** @throws {DomainError} INVALID_CURSOR; RATE_LIMITED when the agent has too many open streams; UNAVAILABLE */
  open(actor: Actor, options: { cursor?: string | undefined }, reader: StreamReader): Promise<OpenStream>;
  /**
   * Returns one page after a position. Waits up to `wait_ms` for the first event.
   * @throws {DomainError} INVALID_CURSOR; RATE_LIMITED when it has to wait and the agent has too many open streams; UNAVAILABLE
   */
  page(
    actor: Actor,
    options: PageOptions & {
      /** Whether the caller wants this event, which its scopes already allow. Others are skipped. Absent: every event. */
      wants?(event: LiveEvent): boolean;
    },
  ): Promise<EventPage>;
  /**
   * The end of the agent's feed, and how many events the next wait of this caller returns. Concurrent calls share one query.
   * @param head the counter, if the caller has just read it: often saves the query
   * @throws {DomainError} INVALID_CURSOR; UNAVAILABLE
   */
  feedStatus(actor: Actor, position?: WaitPosition, head?: FeedHead): Promise<FeedStatus>;
  /**
   * Watches for items of the agent's inbox that may be ready. Watch before you look, so that nothing is missed in between; then wait.
   * @throws {DomainError} RATE_LIMITED when the agent has too many open streams; UNAVAILABLE
   */
  watchInbox(actor: Actor): Promise<InboxWatch>;
  /** Ends the waits of an agent's inbox watches, or of all: items may be ready. Never throws. */
  notifyInboxes(agentId?: string): void;
  /** Where a reader would start that opens with this cursor, and whether events after the cursor are no longer kept. @throws as open */
  startOf(actor: Actor, cursor: string): Promise<Pick<OpenStream, 'cursor' | 'gap'>>;
  /** Reads the feeds of all agents whose conversations the actor may read. It moves no position and no receipt. */
  ofOwner: OwnerWatch;
  /** Records that a transport without a stream has sent these events to the agent. */
  markDelivered(actor: Actor, events: readonly Pick<LiveEvent, 'message'>[]): void;
  /** Stores the agent's position. It only moves forward. @throws {DomainError} INVALID_CURSOR; UNAVAILABLE */
  acknowledge(actor: Actor, cursor: string): Promise<void>;
  /**
   * Passes commits of this or another process to the readers of this process without a query. Calls may be dropped, delayed, duplicated or
   * reordered: a reader uses only the entries that follow its position. Never throws.
   */
  fanOut(commit: Pick<CommitResult, 'entries' | 'events'>): void;
  /** Drops a message that was withdrawn or replaced from memory. Never throws. */
  forgetMessage(messageId: string): void;
  /** Drops what is cached of feeds, because a new primary can lack it. Never throws. */
  forgetTimeline(): void;
  /** Open streams and waiting requests in this process, by transport. */
  stats(): ReadonlyMap<StreamTransport, number>;
  /** Ends the streams of the actors whose token has ended. */
  revoke(isEnded: (actor: Actor) => boolean): void;
  /** Ends every stream with `shutdown` and unsubscribes from the bus. */
  close(): Promise<void>;
}
