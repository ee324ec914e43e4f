import { createEventChecks, type DoorName, type EventChecks } from './checks.ts';
import { eventsDocument } from './document.ts';

let checks: EventChecks | undefined;

/**
 * Holds something that a test received to the document that every service serves. Whatever the test was written for, an event that
 * is not as described fails it.
 * @returns the name of the message.
 * @throws {Error} that says what is not as described.
 */
export function checkReceived(door: DoorName, value: unknown): string {
  checks ??= createEventChecks(eventsDocument());
  return checks.sent(door, value);
}
