import type { z } from 'zod';
import type { EventType } from '../../packages/core/src/events/list.ts';
import type { ShownEvent } from './contract.ts';

/** A message of a transport: a frame, a notification or a page. */
export interface MessageDescription {
  /** Unique within the transport. */
  name: string;
  summary: string;
  schema: z.ZodType;
  example: object;
}

/** Describes a transport that delivers events, for the AsyncAPI document. */
export interface TransportDescription {
  /** snake_case, unique. */
  name: string;
  title: string;
  /** How it is opened, what it guarantees and how it ends, in Markdown. */
  description: string;
  protocol: 'http' | 'ws';
  /** Path of its address; null when the receiver chooses the address. */
  address: string | null;
  method: 'GET' | 'POST';
  /** Query of the request that opens it, if any. */
  query?: z.ZodType;
  /** Headers of every message, if any. */
  headers?: { schema: z.ZodType; example: object };
  /** How a single event looks. Absent: events are only sent as part of another message. */
  event?: {
    schema(type: EventType): z.ZodType;
    /** The exact text that is sent, which is JSON. */
    text(event: ShownEvent): string;
  };
  /** Other messages that the service sends. */
  sends: readonly MessageDescription[];
  /** Messages that clients send, each with the names of its replies. */
  receives: readonly (MessageDescription & { replies: readonly string[] })[];
}
