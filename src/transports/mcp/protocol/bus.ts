import type { z } from 'zod';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import { consumeBudget } from './rate-limit.ts';

/** The bus between processes. Messages may be lost. */
export interface McpBus {
  publish(messages: readonly { topic: string; body: string }[]): Promise<void>;
  subscribe(topic: string, handler: (body: string) => void): () => void;
}

export type BusLog = (message: string, error: unknown) => void;

export interface BusParts {
  bus: McpBus;
  limits: RateLimits;
  log: BusLog;
}

export interface BusListener<T> {
  topic: string;
  schema: z.ZodType<T>;
  onMessage(message: T): void;
}

/** Subscribes to a topic. Messages that do not match the schema are dropped. */
export function listenOnTopic<T>(bus: McpBus, { topic, schema, onMessage }: BusListener<T>): () => void {
  return bus.subscribe(topic, (body) => {
    const message = schema.safeParse(parseJson(body));
    if (message.success) onMessage(message.data);
  });
}

/**
 * Publishes a message of a client. The message counts, because one with an unknown id reaches every process for nothing; but not as a call, because a
 * person can still answer or cancel when the agent has no calls left. Does not wait for the bus: a process that misses it has a timeout.
 * @throws {McpHttpError} 429
 */
export async function publishForAgent(
  { bus, limits, log }: BusParts,
  owner: { agent_id: string },
  message: { topic: string; body: string },
): Promise<void> {
  await consumeBudget(limits, 'event_stream', owner);
  bus.publish([message]).catch((error: unknown) => log(`publishing to ${message.topic} failed`, error));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
