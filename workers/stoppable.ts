import type { BlobStore } from '../src/platform/blobs/store.ts';

/**
 * What is asked for, or the reason of the stop, whichever comes first. What comes after the stop is dropped.
 * @param late is handed that.
 */
export async function raceWithStop<Answer>(
  stop: AbortSignal,
  ask: () => Promise<Answer>,
  late: (answer: Answer) => void = () => undefined,
): Promise<Answer> {
  stop.throwIfAborted();
  let give: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    give = resolve;
  });
  stop.addEventListener('abort', give, { once: true });
  const asked = ask();
  try {
    const first = await Promise.race([asked.then((answer) => ({ answer })), stopped]);
    if (first) return first.answer;
    asked.then(late, () => 'it is too late to say so');
    throw stop.reason;
  } finally {
    stop.removeEventListener('abort', give);
  }
}

/**
 * The store for handlers that leave their jobs to another worker at a stop: one that hangs then would hold up the stop for as long as its
 * patience goes. Everything fails with the reason of the stop; what was asked to be removed may be removed all the same.
 */
export function createStoppableBlobs(stop: AbortSignal, blobs: BlobStore): BlobStore {
  return {
    ...blobs,
    async read(key, range) {
      const bytes = await raceWithStop(
        stop,
        () => blobs.read(key, range),
        (unwanted) => void unwanted.destroy(),
      );
      const end = (): void => void bytes.destroy(stop.reason);
      stop.addEventListener('abort', end, { once: true });
      if (stop.aborted) end();
      return bytes.once('close', () => stop.removeEventListener('abort', end));
    },
    write: (key, bytes, own = stop) => blobs.write(key, bytes, own),
    remove: (key) => raceWithStop(stop, () => blobs.remove(key)),
    list: (after, limit) => raceWithStop(stop, () => blobs.list(after, limit)),
    removeDrafts: (before) => raceWithStop(stop, () => blobs.removeDrafts(before)),
  };
}
