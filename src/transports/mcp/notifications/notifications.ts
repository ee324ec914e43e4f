import { z } from 'zod';
import { eventOf, type EventType } from '../../../../packages/core/src/events/list.ts';
import { wantsNoReply } from '../../../../packages/core/src/domain/threads.ts';
import type { ShownEvent } from '../../../realtime/contract.ts';
import { sseEvent, sseMessage } from '../../http/sse.ts';

const notificationMethod = (type: EventType): string => `notifications/service/${type.replaceAll('.', '_')}`;

const cursorSchema = z
  .string()
  .describe('A feed position, valid on every transport; also the id of the SSE event.');

function notificationEnvelope(method: string, params: z.ZodType) {
  return z.object({
    jsonrpc: z.literal('2.0').describe('JSON-RPC 2.0.'),
    method: z.literal(method).describe('What happened.'),
    params: params.describe('The data of the event and its metadata.'),
  });
}

/** The schema of notifications for events of one type. */
export function notificationSchema(type: EventType): z.ZodType {
  const meta = z
    .object({
      event_id: z.string().meta({ pattern: '^evt_' }).describe('Event id; the same at every delivery.'),
      cursor: cursorSchema,
      reply_expected: z
        .literal(false)
        .optional()
        .describe('Present if the sender expects no reply to the message.'),
      traceparent: z
        .string()
        .optional()
        .describe('The trace that caused the event (W3C Trace Context), if tracing is on.'),
    })
    .describe('Metadata of the event.');
  const { data } = eventOf(type);
  return notificationEnvelope(notificationMethod(type), data.extend({ _meta: meta })).describe(
    data.description ?? type,
  );
}

/**
 * An event as a JSON-RPC notification: `message.created` becomes `notifications/service/message_created`. Its params are the data
 * of the WebSocket event plus `_meta`.
 */
export function notificationText(event: ShownEvent): string {
  const reply = isNoReplyMessage(event) && { reply_expected: false };
  const { id: event_id, cursor, traceparent } = event;
  const meta = JSON.stringify({ event_id, cursor, ...reply, traceparent });
  const data = event.data_json.slice(0, -1);
  const params = `${data}${data === '{' ? '' : ','}"_meta":${meta}}`;
  return `{"jsonrpc":"2.0","method":"${notificationMethod(event.type)}","params":${params}}`;
}

/** Whether the event is a message with `no_reply_expected`. Parses only data that contains the text, which is rare. */
export function isNoReplyMessage({ type, data_json }: Pick<ShownEvent, 'type' | 'data_json'>): boolean {
  if (type !== 'message.created' || !data_json.includes('"no_reply_expected":true')) return false;
  const { metadata } = JSON.parse(data_json) as { metadata: unknown };
  return wantsNoReply(metadata);
}

/** An event as SSE. The SSE id is the cursor, so `Last-Event-ID` resumes after it. */
export function sseNotification(event: ShownEvent): string {
  return sseEvent(event.cursor, notificationText(event));
}

/** Reports a changed resource (MCP, Resources: Subscriptions). */
export const updatedSchema = notificationEnvelope(
  'notifications/resources/updated',
  z.object({ uri: z.string().describe('URI of the resource.') }),
);

/** The notification for a changed resource. */
export function updatedMessage(uri: string): z.infer<typeof updatedSchema> {
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } };
}

/** Resource updates as SSE, without an id: a client that resumes before the events gets both again. */
export function sseUpdatedNotifications(uris: readonly string[]): string {
  return uris.map((uri) => sseMessage(JSON.stringify(updatedMessage(uri)))).join('');
}

/** Reports that events are missing. */
export const gapSchema = notificationEnvelope(
  'notifications/service/gap',
  z.object({
    reason: z.string().describe('Explanation for people.'),
    _meta: z.object({ cursor: cursorSchema }).describe('Where the stream continues.'),
  }),
);

/** Reports that events before this position are no longer kept, so some are missing. */
export function gapMessage(cursor: string): z.infer<typeof gapSchema> {
  const params = { reason: 'events before this cursor are no longer kept', _meta: { cursor } };
  return { jsonrpc: '2.0', method: 'notifications/service/gap', params };
}

/** A gap notification as SSE. */
export function sseGapNotification(cursor: string): string {
  return sseEvent(cursor, JSON.stringify(gapMessage(cursor)));
}
