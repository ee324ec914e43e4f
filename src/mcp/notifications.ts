import type { LiveEvent } from '../realtime/contract.ts';
import { sseEvent } from './sse.ts';

/**
 * An event as a JSON-RPC notification on the stream: `message.created` is `notifications/service/message_created`, its params
 * are the data of the WebSocket event and `_meta`. The SSE id is the cursor, so that `Last-Event-ID` resumes behind it.
 */
export function notificationOf(event: LiveEvent): string {
  const method = `notifications/service/${event.type.replaceAll('.', '_')}`;
  const meta = JSON.stringify({ event_id: event.id, cursor: event.cursor });
  const data = event.data_json.slice(0, -1);
  const params = `${data}${data === '{' ? '' : ','}"_meta":${meta}}`;
  return sseEvent(event.cursor, `{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
}

/** Tells that events before this position are no longer kept: what the stream goes on with is not all there was. */
export function gapNotification(cursor: string): string {
  const params = { reason: 'events before this cursor are no longer kept', _meta: { cursor } };
  const message = { jsonrpc: '2.0', method: 'notifications/service/gap', params };
  return sseEvent(cursor, JSON.stringify(message));
}
