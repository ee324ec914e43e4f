import type { z } from 'zod';

/** What the tool server needs of the bus between processes. Messages may get lost. */
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

/** Hears messages of one shape until it is stopped; others are dropped. */
export function listenOnTopic<T>(
  bus: McpBus,
  { topic, schema, onMessage, log }: BusListener<T>,
): { stop(): Promise<void> } {
  const subscription = bus.subscribe(topic, (body) => {
    const heard = schema.safeParse(parsedJson(body));
    if (heard.success) onMessage(heard.data);
  });
  subscription.catch((error: unknown) => log(`nothing is heard on ${topic}`, error));
  return {
    async stop() {
      try {
        await (
          await subscription
        )();
      } catch (error) {
        log(`the end of listening on ${topic} failed`, error);
      }
    },
  };
}

/** Sends a message without waiting for anything: whoever misses it finds out otherwise, or waits in vain for a limited time. */
export function publishMessage(bus: McpBus, message: { topic: string; body: string }, log: BusLog): void {
  bus.publish([message]).catch((error: unknown) => log(`a message on ${message.topic} was lost`, error));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
