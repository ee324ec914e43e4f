import { notificationsTransport } from '../transports/mcp/description.ts';
import type { TransportDescription } from '../realtime/transport-description.ts';
import { longPollDescription } from '../transports/rest/events.ts';
import { webhooksDescription } from '../transports/rest/webhooks-description.ts';
import { webSocketDescription } from '../transports/ws/description.ts';

/** Every door through which events leave, as the AsyncAPI document tells of it. */
export const eventTransports: readonly TransportDescription[] = [
  webSocketDescription,
  notificationsTransport,
  longPollDescription,
  webhooksDescription,
];
