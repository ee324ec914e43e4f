import { AgentMessagingError, AuthenticationError, ConnectionError, RateLimitError } from '../errors.ts';
import type { Call } from '../calls/nouns.ts';
import type { Position } from './position.ts';
import type { FeedEvent } from './types.ts';

interface EventPage {
  events: FeedEvent[];
  cursor: string;
  gap?: true;
}

/** How long the service waits for the first event, in seconds. */
export const maxWaitSeconds = 25;

const pageSize = 100;

/** Reads one page of events after a position. */
export async function readPage(
  call: Call,
  position: Position,
  {
    start,
    watch,
    waitSeconds,
    signal,
  }: { start: string | undefined; watch: 'owner' | undefined; waitSeconds: number; signal: AbortSignal },
): Promise<void> {
  const page = await call<EventPage>(
    { method: 'GET', path: '/events' },
    { cursor: position.cursor ?? start, watch, limit: pageSize, wait: waitSeconds },
    // The loop of the connection repeats it, from the position that is then known.
    { signal, maxRetries: 0, timeoutMs: waitSeconds * 1_000 + 15_000 },
  );
  if (page.gap) position.addGap(page.events.length > 0 ? 'earliest' : page.cursor);
  for (const event of page.events) position.addEvent(event);
  position.cursor = page.cursor;
}

/** Whether a later attempt can succeed. Otherwise the loop ends with the error. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof AgentMessagingError) || error instanceof AuthenticationError) return false;
  if (error instanceof ConnectionError || error instanceof RateLimitError) return true;
  return error.status === undefined || error.status >= 500;
}
