import type { EventStream, ClientEvent } from '../main.ts';

/** Events of one batch at most: more wait for the next one. */
const maxBatchSize = 500;

/**
 * Collects the events that arrive within a time after the first one; 0: what has arrived already. The next batch is collected while one is
 * handled.
 */
export async function* collectBatches(
  events: Pick<EventStream, 'close' | typeof Symbol.asyncIterator>,
  batchMs: number,
): AsyncGenerator<ClientEvent[], void> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done) return;
      const batch = [accept(first.value)];
      next = iterator.next();
      const timeout = after(batchMs);
      while (batch.length < maxBatchSize) {
        const result = await Promise.race([next, timeout.promise]);
        if (result === undefined || result.done) break;
        batch.push(accept(result.value));
        next = iterator.next();
      }
      timeout.clear();
      yield batch;
    }
  } finally {
    // Otherwise the end would wait for one more event.
    events.close();
    await next.catch(() => undefined); // the reader of the batches has left
    await iterator.return?.();
  }
}

/** A stream gives no event after a gap that was not accepted. */
function accept(event: ClientEvent): ClientEvent {
  if (event.type === 'gap') event.accept();
  return event;
}

function after(milliseconds: number): { promise: Promise<undefined>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return { promise, clear: () => clearTimeout(timer) };
}
