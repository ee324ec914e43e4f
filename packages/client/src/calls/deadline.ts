import { ConnectionError } from '../errors.ts';

/** The end of a call: by its caller or by time. */
export interface Deadline {
  signal: AbortSignal;
  /** Rejects at the end, for what does not take the signal. */
  ended: Promise<never>;
  /** Throws the reason of the caller, or a ConnectionError with the code TIMEOUT; returns while there is time. */
  check(): void;
  /** Milliseconds until the end by time. */
  remainingMs(): number;
  /** Must be called when the call is over. */
  clear(): void;
}

/** Starts the time of a call. */
export function createDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  ended.catch(() => undefined); // the end of a call that waits for something else
  const end = Date.now() + timeoutMs;
  const timer = setTimeout(() => {
    controller.abort(
      new ConnectionError({ code: 'TIMEOUT', message: `There was no answer within ${timeoutMs} ms.` }),
    );
  }, timeoutMs);
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    ended,
    check: () => controller.signal.throwIfAborted(),
    remainingMs: () => end - Date.now(),
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
