import { DomainError } from '../../domain/errors.ts';

/** Milliseconds. Longer than a look-up takes, so that nearly every answer leaves on the first beat. */
export const padIntervalMs = 20;

/**
 * Holds back "not found" to the next beat after the call began. To look for what is hidden takes other steps than to look for
 * what does not exist, and the time they take must not tell the one from the other (contract, section 2). Wrap it around the
 * transaction, not the other way round: while it waits it holds nothing.
 */
export async function padNotFound<T>(call: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await call();
  } catch (error) {
    if (error instanceof DomainError && error.status === 404) {
      const rest_ms = padIntervalMs - ((performance.now() - began) % padIntervalMs);
      await new Promise((resolve) => setTimeout(resolve, rest_ms));
    }
    throw error;
  }
}
