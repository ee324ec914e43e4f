import { setTimeout as sleep } from 'node:timers/promises';
import { s3Sdk } from './s3-client.ts';

/** The delay before each further attempt. */
const retryDelaysMs = [200, 1_000];

/**
 * Repeats a request after a transient error. The SDK itself repeats only requests whose body it can read again, so not those with a stream.
 * @param stop ends the attempts.
 * @throws the error of the last attempt.
 */
export async function withRetries<Response>(
  send: () => Promise<Response>,
  stop?: AbortSignal,
): Promise<Response> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await send();
    } catch (error) {
      if (stop?.aborted || !isTransient(error)) throw error;
      await sleep(delayMs * (0.5 + Math.random()));
    }
  }
  return send();
}

/** Whether another attempt can succeed: the network failed, or the server is overloaded or failed. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof s3Sdk().S3ServiceException)) return true;
  const status = error.$metadata.httpStatusCode ?? 500;
  return status >= 500 || status === 429 || status === 408;
}
