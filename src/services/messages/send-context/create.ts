import type { SendContext } from '../../../work/send-context.ts';
import { readBatch } from './read.ts';
import { createRememberedContext, type RememberedParts } from './remembered.ts';

/**
 * off: reads before each send. on: relies on what this process knows, and reads after a failure. compare: as on, but reads as well, uses
 * what was read, and reports what differs.
 */
export type SendContextMode = 'off' | 'compare' | 'on';

/** Creates the context of the sends of a process. */
export function createSendContext(
  mode: SendContextMode,
  parts: Omit<RememberedParts, 'isCompared'>,
): SendContext {
  if (mode === 'on' || mode === 'compare')
    return createRememberedContext({ ...parts, isCompared: mode === 'compare' });
  return {
    async load(sends, { wait }) {
      const batch = await readBatch(sends, { wait, hasLoopLimit: parts.hasLoopLimit });
      return { ...batch, store: () => undefined };
    },
    clear: () => undefined,
  };
}
