import type { EventData } from '../generated/event-data.ts';

/** An event of the feed. */
export interface EventEnvelope<Type, Data> {
  type: Type;
  /** The same for every delivery of the event. */
  id: string;
  /** The position after this event. */
  cursor: string;
  /** Milliseconds since the Unix epoch. */
  created_at: number;
  data: Data;
  /** The agent whose event it is. Only with `watch`. */
  agent_id?: string;
  /** W3C Trace Context of the request that caused the event. */
  traceparent?: string;
}

/** An event that this version of the library describes. */
export type KnownEvent = { [Type in keyof EventData]: EventEnvelope<Type, EventData[Type]> }[keyof EventData];

/**
 * An event of a later version of the service. Its type is a text that is none of the known ones; TypeScript has no such type, and this one
 * makes a comparison with a known type exclude it.
 */
export type UnknownEvent = EventEnvelope<`${string} (unknown)`, unknown>;

/** Any event of the feed. */
export type FeedEvent = KnownEvent | UnknownEvent;

/**
 * Older events are no longer stored: what happened between the stored position and the next event is not known. Read the state that you
 * keep again, then call `accept`. The loop ends with a GapError if its body does not.
 */
export interface GapEvent {
  type: 'gap';
  cursor: string;
  /** Says that the gap was handled. */
  accept(): void;
}

/** A gap before the loop gets it. */
export type GapPosition = Omit<GapEvent, 'accept'>;

/** What the loop gets. */
export type ClientEvent = FeedEvent | GapEvent;

/** Where a program keeps its position in the feed. */
export interface CursorStore {
  /** Returns the position; undefined before the first event. */
  load(): Promise<string | undefined>;
  /** Called after the body of the loop, before the next event. */
  save(cursor: string): Promise<void>;
}

export type Transport = 'websocket' | 'poll';

/** `waiting`: the connection failed and the next attempt is later. */
export interface ConnectionState {
  status: 'connecting' | 'open' | 'waiting' | 'closed';
  transport?: Transport;
  /** Why it waits. */
  error?: unknown;
}

export interface EventOptions {
  /** Where the position is kept; default: in memory. */
  cursor?: CursorStore;
  /** Where to start without a stored position: there, or after a cursor; default: at the acknowledged position, or the oldest event. */
  start?: 'earliest' | 'latest' | (string & {});
  /** `owner`: the events of the conversations of all agents that the scope conversations:read shows, each with `agent_id`. Its positions are its own. */
  watch?: 'owner';
  /** Only events of these types, and gaps. */
  types?: readonly string[];
  /** `auto` uses long polls while a WebSocket cannot be opened. */
  transport?: Transport | 'auto';
  /** Ends the loop. */
  signal?: AbortSignal;
  /** Events that are read ahead of the loop, at most; default: 500. */
  bufferSize?: number;
  /** Silence after which a WebSocket is checked; without an answer in the same time it is given up. Default: 25,000. */
  pingMs?: number;
  /** How long `auto` polls before it tries a WebSocket again; default: 30,000. */
  webSocketRetryMs?: number;
  onState?: (state: ConnectionState) => void;
}
