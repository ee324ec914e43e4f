import type { Actor } from '../domain/auth/actor.ts';
import type { EventType } from '../domain/feed/events.ts';
import type { MessageRef } from '../domain/feed/receipts.ts';
import type { CommitResult } from '../work/change-set.ts';

/** An event on its way to one receiver. `data` is shared by all receivers of the event: never change it. */
export interface LiveEvent {
  id: string;
  type: EventType;
  /** This receiver's position right behind the event. */
  cursor: string;
  created_at: number;
  thread_id: string | null;
  /** The message that the event is about, if it is. */
  message: MessageRef | null;
  data: object;
  /** `data` as JSON text, made once for all receivers. */
  data_json: string;
  /** The trace of its cause (W3C Trace Context), where that was traced. */
  traceparent?: string;
}

/** What a door shows of an event. */
export type ShownEvent = Pick<
  LiveEvent,
  'id' | 'type' | 'cursor' | 'created_at' | 'data_json' | 'traceparent'
>;

/** `overtaken`: what lies behind the reader's position is no longer kept; it learns so when it comes back with its cursor. */
export type StreamEnd = 'token_ended' | 'shutdown' | 'overtaken' | 'failed';

/** Through what events leave: a WebSocket, an MCP stream, a call that waits for them. */
export type StreamTransport = 'ws' | 'mcp' | 'poll';

/** Who reads a stream: a socket, an SSE response. */
export interface StreamReader {
  readonly transport: StreamTransport;
  /** Whether it takes this event, as far as its scopes show it. Absent: it takes all. */
  wants?(event: LiveEvent): boolean;
  /**
   * Gets events in order, never the next batch before the last one is taken: at once when it answers nothing, else when the
   * promise resolves. Resolve it when there is room for more. What is taken counts as delivered.
   */
  deliver(events: readonly LiveEvent[]): Promise<void> | undefined;
  /** Nothing more will come: the token expired or was revoked, the process stops, the reader was too slow, or the log cannot be read. */
  onEnded(reason: StreamEnd): void;
}

export interface OpenStream {
  /** Where the stream starts. */
  cursor: string;
  /** Whether it starts at a given cursor or at the acknowledged position, not at "now". */
  resumed: boolean;
  /** Whether events after that position are no longer kept. */
  gap: boolean;
  /** Begins to deliver: first what lies behind `cursor`, then live, without hole or repetition at the seam. */
  start(): void;
  close(): void;
}

export interface EventPage {
  events: LiveEvent[];
  cursor: string;
  /** False when more lies behind `cursor` already. */
  complete: boolean;
  gap: boolean;
}

export interface FeedStatus {
  cursor: string;
  pending_events: number;
}

/** Told how soon streams that are up to date get what is new. It is called for each page of each stream, so it must be quick. */
export interface StreamMetrics {
  /** Times are milliseconds since the epoch; `rung` is when the stream heard of the first of these events. */
  onWritten(door: StreamTransport, events: readonly LiveEvent[], rung: number): void;
}

/** The one reader of feeds in a process; every door goes through it. */
export interface Realtime {
  /** @throws {DomainError} INVALID_CURSOR; RATE_LIMITED when the agent has too many streams open */
  open(actor: Actor, options: { cursor?: string | undefined }, reader: StreamReader): Promise<OpenStream>;
  /**
   * One page behind a position; waits up to `wait_ms` when there is none yet.
   * @throws {DomainError} INVALID_CURSOR; RATE_LIMITED when it would wait and too many do already
   */
  page(
    actor: Actor,
    options: {
      cursor?: string | undefined;
      limit: number;
      wait_ms: number;
      signal?: AbortSignal;
      /** Whether the caller takes this event, as far as its scopes show it. Others are passed by. Absent: it takes all. */
      wants?(event: LiveEvent): boolean;
    },
  ): Promise<EventPage>;
  /**
   * Where the feed of the actor's agent ends now, and how much of what lies behind its acknowledged position the actor may see: of
   * the next 100 events, so at most 100. Cheap: who asks at once is answered by one query.
   */
  feedStatus(actor: Actor): Promise<FeedStatus>;
  /** A door without a stream has answered its caller with these events: they count as delivered. */
  markDelivered(actor: Actor, events: readonly LiveEvent[]): void;
  /** Keeps a position of the agent for good; it only moves forward. @throws {DomainError} INVALID_CURSOR */
  acknowledge(actor: Actor, cursor: string): Promise<void>;
  /**
   * Takes what this process itself has committed, so that the readers here get it without a query. It is free to be left out, late,
   * doubled or out of order: a reader takes from it only what its own position says is next. Never throws.
   */
  fanOut(news: Pick<CommitResult, 'entries' | 'events'>): void;
  /** How many streams and waiting calls are open here, by door. */
  stats(): ReadonlyMap<StreamTransport, number>;
  /** Ends the streams of tokens that are no longer good. */
  revoke(isEnded: (actor: Actor) => boolean): void;
  /** Ends every stream with `shutdown` and stops listening. */
  close(): Promise<void>;
}
