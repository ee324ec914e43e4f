import type { Traffic } from './exchange.ts';
import type { Correspondent } from './questions.ts';
import { field, messagesIn } from './scopes.ts';

/**
 * Hands on what a client sends beside its calls and is for another process perhaps: its answers to requests of ours, and
 * cancellations. What is for nobody is dropped; the client is not told.
 */
export function takeForOthers({ questions, calls }: Traffic, by: Correspondent, message: unknown): void {
  for (const one of messagesIn(message)) {
    const method = field(one, 'method');
    if (method === 'notifications/cancelled') calls.cancel(by, field(field(one, 'params'), 'requestId'));
    else if (method === undefined) questions.answer(by, one);
  }
}
