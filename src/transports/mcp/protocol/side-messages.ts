import type { CallRegistry } from './exchange.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';
import { readField, toMessages } from './required-scopes.ts';

/**
 * Hands on what a client sends beside its calls and is for another process perhaps: its answers to requests of ours, and
 * cancellations. What is for nobody is dropped; the client is not told.
 */
export function routeClientMessages(
  { clientRequests, runningCalls }: CallRegistry,
  by: SessionOwner,
  message: unknown,
): void {
  for (const one of toMessages(message)) {
    const method = readField(one, 'method');
    if (method === 'notifications/cancelled')
      runningCalls.cancel(by, readField(readField(one, 'params'), 'requestId'));
    else if (method === undefined) clientRequests.onResponse(by, one);
  }
}
