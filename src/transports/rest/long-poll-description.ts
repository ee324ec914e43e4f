import { examplePage } from '../../operations/examples/events.ts';
import type { TransportDescription } from '../../realtime/transport-description.ts';
import { eventsAnswer, eventsQuery } from './events.ts';

/** The long poll, for the description of the events. */
export const longPollDescription: TransportDescription = {
  name: 'long_poll',
  title: 'Long poll',
  description: `
\`GET /v1/events\`, an operation of the REST interface: \`list_events\` in \`/v1/openapi.json\`. It answers a page of events, at once or when the first one comes, and the cursor behind the page, with which to ask again. \`gap\` says that events behind the given cursor are no longer kept.`.trim(),
  protocol: 'http',
  address: '/v1/events',
  method: 'GET',
  query: eventsQuery,
  sends: [{ name: 'page', summary: 'A page of events.', schema: eventsAnswer, example: examplePage }],
  receives: [],
};
