import type { Logger } from './logger.ts';

/**
 * Tells the log of something that is done again and again when it begins to fail and when it is well again, not each time.
 * @param texts what the log says then.
 * @returns answers what comes of what is under way; undefined when that fails, of which the log has heard.
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
