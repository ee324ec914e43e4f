import { setTimeout as pause } from 'node:timers/promises';
import { type FeedPage, type Lane, type Pages, UnreadableFeed } from '../feed/pages.ts';
import { type FeedBounds, startPosition } from '../feed/start-position.ts';
import type { Listener } from './registry.ts';

/** Longest pause between two attempts while the database does not respond, in milliseconds. */
const maxPauseMs = 2_000;

/** The stream that a page is for. */
export interface PageReader extends Pick<Listener, 'actor' | 'position' | 'end'> {
  /** Moves the position after a database restore. */
  moveTo(position: number): void;
  hasEnded(): boolean;
}

export interface NextPageParts {
  pages: Pick<Pages, 'read'>;
  bounds(agentId: string): Promise<FeedBounds>;
  log(message: string, error: unknown): void;
}

/**
 * Reads the page after the position of a stream from the database, with retries. Resolves to undefined when the stream has ended.
 * @param expected the largest number announced
 * @throws {UnreadableFeed}; other errors are retried.
 */
export async function readNextPage(
  parts: NextPageParts,
  reader: PageReader,
  { lane, expected }: { lane: Lane; expected: number },
): Promise<FeedPage | undefined> {
  for (let pauseMs = 100; !reader.hasEnded(); pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      const position = reader.position();
      const page = await parts.pages.read(reader.actor.agent_id, position, lane);
      const isExpected = page.events.length > 0 ? page.after === position : expected <= position;
      const usable = isExpected ? page : await checkPage(parts, reader, page);
      if (usable) return usable;
    } catch (error) {
      if (error instanceof UnreadableFeed) throw error;
      // The database does not respond. Jitter keeps the streams from retrying all at once.
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false });
    }
  }
  return undefined;
}

/**
 * Handles a page that does not begin at the position, or that is empty although entries were announced. If the entries were
 * removed, the stream ends. If the database was restored, the position moves. Undefined: do not use this page.
 * @throws {UnreadableFeed} when an entry is missing between entries that are kept.
 */
async function checkPage(
  { bounds, log }: NextPageParts,
  reader: PageReader,
  page: FeedPage,
): Promise<FeedPage | undefined> {
  const { agent_id } = reader.actor;
  const position = reader.position();
  const current = startPosition(await bounds(agent_id), position);
  if (current.gap) {
    log(
      `the entries after position ${position} of ${agent_id} are no longer kept; its stream was ended`,
      undefined,
    );
    reader.end('position_expired');
    return undefined;
  }
  if (current.position !== position) {
    reader.moveTo(current.position);
    return undefined;
  }
  if (page.after !== position) throw new UnreadableFeed(`entries after ${position} are missing`);
  return page;
}
