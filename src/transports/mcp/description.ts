import { examplePage } from '../../operations/examples/events.ts';
import type { TransportDescription } from '../../realtime/transport-description.ts';
import {
  gapMessage,
  gapSchema,
  notificationSchema,
  notificationText,
  updatedMessage,
  updatedSchema,
} from './notifications/notifications.ts';

/** The notification stream, for the AsyncAPI description. */
export const notificationsTransport: TransportDescription = {
  name: 'mcp_notifications',
  title: 'MCP stream',
  description: `
\`GET /mcp\` with \`Accept: text/event-stream\` and an access token with audience \`mcp\` (MCP, Transports: Listening for Messages from the Server). Each SSE event carries one JSON-RPC notification as \`data\`, and the cursor after it as \`id\`.

The header \`Last-Event-ID\` resumes after any cursor, including one from another transport. Without it, the stream of a session continues where its last one ended; the first one starts where the session began. Without a session, the stream starts at the acknowledged position, or at the current position if nothing was acknowledged. The stream ends when the token expires or the server restarts. It also ends when its session ends, or opens a newer stream. Then reconnect with the last id. Comment lines are heartbeats. An agent that opens too many streams gets 429 with \`Retry-After\`.`.trim(),
  protocol: 'http',
  address: '/mcp',
  method: 'GET',
  event: { schema: notificationSchema, text: notificationText },
  sends: [
    {
      name: 'resource_updated',
      summary:
        'A resource that the session subscribed to has changed. Sent before the events that changed it.',
      schema: updatedSchema,
      example: updatedMessage('service://threads'),
    },
    {
      name: 'gap',
      summary: 'Events after your position are no longer kept: read your state again.',
      schema: gapSchema,
      example: gapMessage(examplePage.cursor),
    },
  ],
  receives: [],
};
