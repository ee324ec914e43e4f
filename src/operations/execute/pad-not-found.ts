import { DomainError } from '../../domain/errors.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Milliseconds. Longer than a look-up takes, so that nearly every answer leaves at the end of the first interval. */
export const padIntervalMs = 20;

/**
 * Delays "not found" to the end of an interval since the call began. Looking up a hidden record takes other steps than looking up an
 * absent one; the response time must not distinguish them. The delay is outside the transaction, so that it holds no connection.
 */
export async function padNotFound(_context: CallContext, next: Next): Promise<Answer> {
  const began = performance.now();
  try {
    return await next();
  } catch (error) {
    if (error instanceof DomainError && error.status === 404) {
      const delayMs = padIntervalMs - ((performance.now() - began) % padIntervalMs);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    throw error;
  }
}
