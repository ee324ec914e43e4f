import type { BlobStore } from '../src/platform/blobs/store.ts';

/**
 * Runs a task, but does not wait for it after the stop.
 * @param onLateResult receives the result if it arrives after the stop.
 * @throws the reason of the stop
 */
export async function raceWithStop<Result>(
  stop: AbortSignal,
  run: () => Promise<Result>,
  onLateResult: (result: Result) => void = () => undefined,
): Promise<Result> {
  stop.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    onAbort = resolve;
  });
  stop.addEventListener('abort', onAbort, { once: true });
  const running = run();
  try {
    const first = await Promise.race([running.then((result) => ({ result })), stopped]);
    if (first) return first.result;
    running.then(onLateResult, () => undefined); // a late error is irrelevant: the job runs again elsewhere
    throw stop.reason;
  } finally {
    stop.removeEventListener('abort', onAbort);
  }
}

/**
 * Wraps the blob store so that pending calls fail with the reason of the stop, because a hanging store would delay the stop until its
 * timeout. A pending removal may still succeed.
 */
export function createStoppableBlobs(stop: AbortSignal, blobs: BlobStore): BlobStore {
  return {
    ...blobs,
    async read(key, range) {
      const bytes = await raceWithStop(
        stop,
        () => blobs.read(key, range),
        (lateBytes) => void lateBytes.destroy(),
      );
      const onAbort = (): void => void bytes.destroy(stop.reason);
      stop.addEventListener('abort', onAbort, { once: true });
      if (stop.aborted) onAbort();
      return bytes.once('close', () => stop.removeEventListener('abort', onAbort));
    },
    write: (key, bytes, signal = stop) => blobs.write(key, bytes, signal),
    remove: (key) => raceWithStop(stop, () => blobs.remove(key)),
    list: (after, limit) => raceWithStop(stop, () => blobs.list(after, limit)),
    removeDrafts: (before) => raceWithStop(stop, () => blobs.removeDrafts(before)),
  };
}
