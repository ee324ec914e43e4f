import { setTimeout as pause } from 'node:timers/promises';
import { type FeedPage, type Lane, UnreadableFeed } from '../feed/pages.ts';
import { startPosition } from '../feed/start-position.ts';
import type { Stream, StreamParts, StreamState } from './stream.ts';

/** Longest pause between two attempts while the database does not respond, in milliseconds. */
const maxPauseMs = 2_000;

/** Resolves to the page after the position of a stream, or to undefined when the stream has ended. */
type NextPage = (lane: Lane, expected: number) => Promise<FeedPage | undefined>;

/** Reads the pages of a stream from the database, with retries. Its function throws UnreadableFeed; other errors are retried. */
export function createNextPage(
  { actor: { agent_id }, pages, bounds, log }: Pick<StreamParts, 'actor' | 'pages' | 'bounds' | 'log'>,
  state: StreamState,
  stream: Stream,
  hasEnded: () => boolean,
): NextPage {
  /**
   * Handles a page that does not begin at the position, or that is empty although entries were announced. If the entries were
   * removed, the stream ends. If the database was restored, the position moves. Undefined: do not use this page.
   * @throws {UnreadableFeed} when an entry is missing between entries that are kept.
   */
  async function checkPage(page: FeedPage): Promise<FeedPage | undefined> {
    const current = startPosition(await bounds(agent_id), state.position);
    if (current.gap) {
      log(
        `the entries after position ${state.position} of ${agent_id} are no longer kept; its stream was ended`,
        undefined,
      );
      stream.end('position_expired');
      return undefined;
    }
    if (current.position !== state.position) {
      state.position = current.position;
      return undefined;
    }
    if (page.after !== state.position)
      throw new UnreadableFeed(`entries after ${state.position} are missing`);
    return page;
  }

  return async function nextPage(lane, expected) {
    for (let pauseMs = 100; !hasEnded(); pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const page = await pages.read(agent_id, state.position, lane);
        const isExpected =
          page.events.length > 0 ? page.after === state.position : expected <= state.position;
        const usable = isExpected ? page : await checkPage(page);
        if (usable) return usable;
      } catch (error) {
        if (error instanceof UnreadableFeed) throw error;
        // The database does not respond. Jitter keeps the streams from retrying all at once.
        await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false });
      }
    }
    return undefined;
  };
}
