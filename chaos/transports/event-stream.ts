import { z } from 'zod';
import { type EventFields, readServerSentEvents } from './server-sent-events.ts';
import type { Connection } from './transport.ts';

const notification = z.looseObject({
  method: z.string(),
  params: z.looseObject({
    _meta: z.object({ event_id: z.string().optional(), cursor: z.string() }),
  }),
});
const prefix = 'notifications/service/';

/** Reads the stream of an MCP client (text/event-stream with Last-Event-ID) until it ends or is idle for too long. */
export async function readEventStream(connection: Connection): Promise<void> {
  const { base, agent, cursor, onComplaint, signal } = connection;
  const headers = {
    Authorization: `Bearer ${agent.tokens.mcp}`,
    Accept: 'text/event-stream',
    'Last-Event-ID': cursor,
  };
  const onEvent = (fields: EventFields) => readNotification(fields, connection);
  const answer = await readServerSentEvents(`${base}/mcp`, { headers }, { signal, onEvent });
  if (!answer) return;
  if ('problem' in answer) onComplaint(answer.problem);
  else if (answer.status !== 503) onComplaint(`the stream got status ${answer.status}: ${answer.text}`);
}

function readNotification(fields: EventFields, { onEvent, onComplaint }: Connection): void {
  const data = fields.get('data') ?? '';
  const { method, params } = notification.parse(JSON.parse(data));
  const {
    _meta: { event_id, cursor },
    ...eventData
  } = params;
  if (cursor !== fields.get('id'))
    onComplaint(`the id of a notification is not its cursor: ${data.slice(0, 200)}`);
  if (event_id === undefined) return onComplaint(`unexpected on the stream: ${data.slice(0, 200)}`);
  const type = method.slice(prefix.length).replace('_', '.');
  onEvent({ event_id, type, cursor, created_at: null, data: eventData });
}
