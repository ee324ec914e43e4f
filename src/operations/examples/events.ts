import { eventOf, eventTypes } from '../../../packages/core/src/events/list.ts';
import { exampleMessage } from '../../../packages/core/src/records/examples.ts';

const cursor = 'MTA0Mg.c2lnbmF0dXJlLi4u';

/** One example event per type. */
export const exampleEvents = eventTypes.map((type) => ({
  type,
  id: 'evt_01K9ZX6Q8V2W6Y8Z0A2C4E5F6G',
  cursor,
  created_at: exampleMessage.created_at,
  data: eventOf(type).example,
}));

/** An example page of events. */
export const examplePage = {
  events: exampleEvents.filter(({ type }) => type === 'message.created'),
  cursor,
  complete: true,
};
