import { setTimeout as sleep } from 'node:timers/promises';
import { s3Sdk } from './s3-sdk.ts';

/** Pauses before each further try, in milliseconds. */
const retryDelaysMs = [200, 1_000];

/**
 * Asks an S3 server again after a passing fault: the SDK repeats what has no body, or one that it can read again; a stream it sends once.
 * @param stop has it asked no more.
 * @throws what the last try did.
 */
export async function withRetries<Answer>(ask: () => Promise<Answer>, stop?: AbortSignal): Promise<Answer> {
  for (const pause of retryDelaysMs) {
    try {
      return await ask();
    } catch (error) {
      if (stop?.aborted || !isTransient(error)) throw error;
      await sleep(pause * (0.5 + Math.random()));
    }
  }
  return ask();
}

/** Whether a later try may succeed: the network failed, or the store says that it is busy or ill. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof s3Sdk().S3ServiceException)) return true;
  const status = error.$metadata.httpStatusCode ?? 500;
  return status >= 500 || status === 429 || status === 408;
}
