import { z } from 'zod';
import type { Connection } from './transport.ts';

const notification = z.looseObject({
  method: z.string(),
  params: z.looseObject({
    _meta: z.object({ event_id: z.string().optional(), cursor: z.string() }),
  }),
});
const prefix = 'notifications/service/';

/** Idle time after which the reader closes the stream, in milliseconds; shorter than the service's heartbeat interval. */
const timeoutMs = 5_000;

/** Reads the stream of an MCP client (text/event-stream with Last-Event-ID) until it ends or is idle for too long. */
export async function readEventStream(connection: Connection): Promise<void> {
  const { base, agent, cursor, onComplaint, signal } = connection;
  const idle = new AbortController();
  const giveUp = () => idle.abort();
  let timer = setTimeout(giveUp, timeoutMs);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const headers = {
      Authorization: `Bearer ${agent.tokens.mcp}`,
      Accept: 'text/event-stream',
      'Last-Event-ID': cursor,
    };
    const response = await fetch(`${base}/mcp`, {
      headers,
      signal: idle.signal,
    });
    if (!response.ok || !response.body) {
      if (response.status !== 503)
        onComplaint(`the stream got status ${response.status}: ${await response.text()}`);
      return;
    }
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs);
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) readBlock(block, connection);
    }
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError) onComplaint(error.message);
    // Anything else is the end of the connection.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function readBlock(block: string, { onEvent, onComplaint }: Connection): void {
  const fields = new Map(block.split('\n').map((line) => splitAt(line, line.indexOf(': '))));
  const data = fields.get('data');
  if (!data) return; // a heartbeat, or the start of the stream
  const { method, params } = notification.parse(JSON.parse(data));
  const {
    _meta: { event_id, cursor },
    ...eventData
  } = params;
  if (cursor !== fields.get('id'))
    onComplaint(`the id of a notification is not its cursor: ${block.slice(0, 200)}`);
  if (event_id === undefined) return onComplaint(`unexpected on the stream: ${data.slice(0, 200)}`);
  const type = method.slice(prefix.length).replace('_', '.');
  onEvent({ event_id, type, cursor, created_at: null, data: eventData });
}

function splitAt(line: string, at: number): [name: string, value: string] {
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 2)];
}
