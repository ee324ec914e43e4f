import { hasFeedScope } from '../../../realtime/feed-scopes.ts';
import type { FeedStatus } from '../../../realtime/contract.ts';
import type { Caller } from '../protocol/caller.ts';
import type { McpParts } from '../parts.ts';

/**
 * Where the feed of the caller's agent stood before the call, for `_meta` of its result: what the call sets in motion lies behind
 * that cursor. Undefined for those who may see no events, and when it cannot be read just now: no call fails for that.
 */
export async function readFeedStatus(
  { realtime, logger }: Pick<McpParts, 'realtime' | 'logger'>,
  { actor, request_id }: Caller,
): Promise<FeedStatus | undefined> {
  if (!hasFeedScope(actor)) return undefined;
  try {
    return await realtime.feedStatus(actor);
  } catch (error) {
    logger.debug({ err: error, request_id }, 'where a feed stands could not be read');
    return undefined;
  }
}
