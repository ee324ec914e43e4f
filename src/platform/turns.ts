import type { Logger } from './logger.ts';

/**
 * Tells the log of something that is done again and again when it begins to fail and when it is well again, not each time.
 * @param texts what the log says then.
 * @returns waits for what is under way, and never rejects.
 */
export function tellTurns(
  logger: Pick<Logger, 'warn'>,
  texts: { failing: string; well: string },
  details: object = {},
): (underWay: Promise<unknown>) => Promise<void> {
  let failing = false;
  return async (underWay) => {
    try {
      await underWay;
      if (failing) logger.warn(details, texts.well);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: error, ...details }, texts.failing);
      failing = true;
    }
  };
}
