import type { Logger } from './logger.ts';

/**
 * Logs when a repeated action begins to fail and when it succeeds again, not each time.
 * @param texts the messages.
 * @returns the result of the action; undefined when it fails.
 */
export function logTransitions(
  logger: Pick<Logger, 'warn'>,
  texts: { failing: string; recovered: string },
  details: object = {},
): <T>(underWay: Promise<T>) => Promise<T | undefined> {
  let failing = false;
  return async (underWay) => {
    try {
      const answer = await underWay;
      if (failing) logger.warn(details, texts.recovered);
      failing = false;
      return answer;
    } catch (error) {
      if (!failing) logger.warn({ err: error, ...details }, texts.failing);
      failing = true;
      return undefined;
    }
  };
}
