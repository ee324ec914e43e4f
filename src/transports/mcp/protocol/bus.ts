import type { z } from 'zod';

/** The bus between processes. Messages may be lost. */
export interface McpBus {
  publish(messages: readonly { topic: string; body: string }[]): Promise<void>;
  subscribe(topic: string, handler: (body: string) => void): Promise<() => Promise<void>>;
}

export type BusLog = (message: string, error: unknown) => void;

export interface BusListener<T> {
  topic: string;
  schema: z.ZodType<T>;
  onMessage(message: T): void;
  log: BusLog;
}

/** Subscribes to a topic. Messages that do not match the schema are dropped. */
export function listenOnTopic<T>(
  bus: McpBus,
  { topic, schema, onMessage, log }: BusListener<T>,
): { stop(): Promise<void> } {
  const subscription = bus.subscribe(topic, (body) => {
    const message = schema.safeParse(parseJson(body));
    if (message.success) onMessage(message.data);
  });
  subscription.catch((error: unknown) => log(`subscribing to ${topic} failed`, error));
  return {
    async stop() {
      try {
        await (
          await subscription
        )();
      } catch (error) {
        log(`unsubscribing from ${topic} failed`, error);
      }
    },
  };
}

/** Publishes without waiting. A process that misses the message falls back to a timeout. */
export function publishMessage(bus: McpBus, message: { topic: string; body: string }, log: BusLog): void {
  bus.publish([message]).catch((error: unknown) => log(`publishing to ${message.topic} failed`, error));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
