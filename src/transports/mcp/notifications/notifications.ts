import { z } from 'zod';
import type { EventType } from '../../../domain/feed/events.ts';
import { wantsNoReply } from '../../../domain/threads.ts';
import type { ShownEvent } from '../../../realtime/contract.ts';
import { eventDataOf } from '../../../realtime/envelope.ts';
import { sseEvent, sseMessage } from './sse.ts';

const notificationMethod = (type: EventType): string => `notifications/service/${type.replaceAll('.', '_')}`;

const cursorSchema = z
  .string()
  .describe('A position in the feed, good at every door; the id of the SSE event too.');

function notificationEnvelope(method: string, params: z.ZodType) {
  return z.object({
    jsonrpc: z.literal('2.0').describe('JSON-RPC 2.0.'),
    method: z.literal(method).describe('What happened.'),
    params: params.describe('The data of the event, and where it stands.'),
  });
}

/** Notifications of events of one type. */
export function notificationSchema(type: EventType): z.ZodType {
  const which = z
    .object({
      event_id: z.string().meta({ pattern: '^evt_' }).describe('The same at every delivery.'),
      cursor: cursorSchema,
      reply_expected: z
        .literal(false)
        .optional()
        .describe('The sender of the message wants no answer to it.'),
      traceparent: z
        .string()
        .optional()
        .describe('The trace of what caused the event (W3C Trace Context), where the service traces.'),
    })
    .describe('Which event this is.');
  const data = eventDataOf(type);
  return notificationEnvelope(notificationMethod(type), data.extend({ _meta: which })).describe(
    data.description ?? type,
  );
}

/**
 * An event as a JSON-RPC notification: `message.created` is `notifications/service/message_created`, its params are the data of
 * the WebSocket event and `_meta`, which says too when the sender of a message wants no answer.
 */
export function notificationText(event: ShownEvent): string {
  const reply = isNoReplyMessage(event) && { reply_expected: false };
  const { id: event_id, cursor, traceparent } = event;
  const meta = JSON.stringify({ event_id, cursor, ...reply, traceparent });
  const data = event.data_json.slice(0, -1);
  const params = `${data}${data === '{' ? '' : ','}"_meta":${meta}}`;
  return `{"jsonrpc":"2.0","method":"${notificationMethod(event.type)}","params":${params}}`;
}

/** Whether an event is a message whose sender wants no answer. Few do, so few are read as JSON for it. */
export function isNoReplyMessage({ type, data_json }: Pick<ShownEvent, 'type' | 'data_json'>): boolean {
  if (type !== 'message.created' || !data_json.includes('"no_reply_expected":true')) return false;
  const { metadata } = JSON.parse(data_json) as { metadata: unknown };
  return wantsNoReply(metadata);
}

/** The same on the stream. The SSE id is the cursor, so that `Last-Event-ID` resumes behind it. */
export function sseNotification(event: ShownEvent): string {
  return sseEvent(event.cursor, notificationText(event));
}

/** Tells that a resource reads differently now (MCP, Resources: Subscriptions). */
export const updatedSchema = notificationEnvelope(
  'notifications/resources/updated',
  z.object({ uri: z.string().describe('Which resource.') }),
);

export function updatedMessage(uri: string): z.infer<typeof updatedSchema> {
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } };
}

/** The same on the stream, without an id: whoever loses it together with the events behind it gets both again. */
export function sseUpdatedNotifications(uris: readonly string[]): string {
  return uris.map((uri) => sseMessage(JSON.stringify(updatedMessage(uri)))).join('');
}

/** Tells that events are missing. */
export const gapSchema = notificationEnvelope(
  'notifications/service/gap',
  z.object({
    reason: z.string().describe('For people.'),
    _meta: z.object({ cursor: cursorSchema }).describe('Where the stream goes on.'),
  }),
);

/** Tells that events before this position are no longer kept: what the stream goes on with is not all there was. */
export function gapMessage(cursor: string): z.infer<typeof gapSchema> {
  const params = { reason: 'events before this cursor are no longer kept', _meta: { cursor } };
  return { jsonrpc: '2.0', method: 'notifications/service/gap', params };
}

/** The same on the stream. */
export function sseGapNotification(cursor: string): string {
  return sseEvent(cursor, JSON.stringify(gapMessage(cursor)));
}
