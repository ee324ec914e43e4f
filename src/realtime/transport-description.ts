import type { z } from 'zod';
import type { EventType } from '../domain/feed/events.ts';
import type { ShownEvent } from './contract.ts';

/** Something that goes over a door in one piece: a frame, a notification, a page. */
export interface MessageDescription {
  /** Unique at its door. */
  name: string;
  summary: string;
  schema: z.ZodType;
  example: object;
}

/** What the description of the events tells of one door through which they leave. */
export interface TransportDescription {
  /** snake_case; unique among all doors. */
  name: string;
  title: string;
  /** How it is opened, what it promises and how it ends, in Markdown. */
  description: string;
  protocol: 'http' | 'ws';
  /** Path of its address; null where the receiver says where it is. */
  address: string | null;
  method: 'GET' | 'POST';
  /** Query of the request that opens it, when it takes one. */
  query?: z.ZodType;
  /** Headers that every message has, when there are any. */
  headers?: { schema: z.ZodType; example: object };
  /** How a single event looks here; absent where events leave only as part of something else. */
  event?: {
    schema(type: EventType): z.ZodType;
    /** The text that really leaves, which is JSON. */
    text(event: ShownEvent): string;
  };
  /** What else the service sends. */
  sends: readonly MessageDescription[];
  /** What clients may send, each with the names of what answers it. */
  receives: readonly (MessageDescription & { replies: readonly string[] })[];
}
