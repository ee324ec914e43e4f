import { createEventChecks, type EventTransport, type EventChecks } from './event-checks.ts';
import { buildAsyncApiDocument } from './document.ts';

let checks: EventChecks | undefined;

/**
 * Holds something that a test received to the document that every service serves. Whatever the test was written for, an event that
 * is not as described fails it.
 * @returns the name of the message.
 * @throws {Error} that says what is not as described.
 */
export function checkReceived(transport: EventTransport, value: unknown): string {
  checks ??= createEventChecks(buildAsyncApiDocument());
  return checks.checkSent(transport, value);
}
