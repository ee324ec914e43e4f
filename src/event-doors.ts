import { notificationsDoor } from './mcp/description.ts';
import type { DoorDescription } from './realtime/door-description.ts';
import { longPollDoor } from './rest/events-door.ts';
import { webhooksDoor } from './rest/webhooks-door.ts';
import { webSocketDoor } from './ws/description.ts';

/** Every door through which events leave, as the AsyncAPI document tells of it. */
export const eventDoors: readonly DoorDescription[] = [
  webSocketDoor,
  notificationsDoor,
  longPollDoor,
  webhooksDoor,
];
