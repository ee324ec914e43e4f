import type { z } from 'zod';

/** What the tool server needs of the bus between processes. Messages may get lost. */
export interface LocalBus {
  publish(messages: readonly { topic: string; body: string }[]): Promise<void>;
  subscribe(topic: string, handler: (body: string) => void): Promise<() => Promise<void>>;
}

export type BusLog = (message: string, error: unknown) => void;

export interface Listening<T> {
  topic: string;
  schema: z.ZodType<T>;
  take(message: T): void;
  log: BusLog;
}

/** Hears messages of one shape until it is stopped; others are dropped. */
export function listenFor<T>(
  bus: LocalBus,
  { topic, schema, take, log }: Listening<T>,
): { stop(): Promise<void> } {
  const subscription = bus.subscribe(topic, (body) => {
    const heard = schema.safeParse(parsedJson(body));
    if (heard.success) take(heard.data);
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
export function tell(bus: LocalBus, message: { topic: string; body: string }, log: BusLog): void {
  bus.publish([message]).catch((error: unknown) => log(`a message on ${message.topic} was lost`, error));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
