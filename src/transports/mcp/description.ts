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

/** The notifications of the tool server, for the description of the events. */
export const notificationsTransport: TransportDescription = {
  name: 'mcp_notifications',
  title: 'MCP stream',
  description: `
\`GET /mcp\` with \`Accept: text/event-stream\` and a token for the tool server (MCP, Transports: Listening for Messages from the Server). Each SSE event carries one JSON-RPC notification as \`data\`, and the cursor behind it as \`id\`.

The header \`Last-Event-ID\` resumes behind any cursor, also one that another door gave; without it the stream starts at the acknowledged position, or now. It ends with the token, the session or the process: open it again with the last id. Comment lines are signs of life.`.trim(),
  protocol: 'http',
  address: '/mcp',
  method: 'GET',
  event: { schema: notificationSchema, text: notificationText },
  sends: [
    {
      name: 'resource_updated',
      summary:
        'A resource that the session subscribed to reads differently now; it comes before the events that changed it.',
      schema: updatedSchema,
      example: updatedMessage('service://threads'),
    },
    {
      name: 'gap',
      summary: 'Events behind your position are no longer kept: read your state anew.',
      schema: gapSchema,
      example: gapMessage(examplePage.cursor),
    },
  ],
  receives: [],
};
