import { mayFollow } from '../realtime/following.ts';
import type { Standing } from '../realtime/contract.ts';
import type { Caller } from './caller.ts';
import type { McpParts } from './parts.ts';

/**
 * Where the feed of the caller's agent stood before the call, for `_meta` of its result: what the call sets in motion lies behind
 * that cursor. Undefined for those who may see no events, and when it cannot be read just now: no call fails for that.
 */
export async function standingOf(
  { realtime, logger }: Pick<McpParts, 'realtime' | 'logger'>,
  { actor, request_id }: Caller,
): Promise<Standing | undefined> {
  if (!mayFollow(actor)) return undefined;
  try {
    return await realtime.standing(actor);
  } catch (error) {
    logger.debug({ err: error, request_id }, 'where a feed stands could not be read');
    return undefined;
  }
}
