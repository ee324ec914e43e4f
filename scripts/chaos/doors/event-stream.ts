import { z } from 'zod';
import { subjectOf, type Visit } from './door.ts';

const notification = z.looseObject({
  method: z.string(),
  params: z.looseObject({
    id: z.string().optional(),
    request_id: z.string().optional(),
    _meta: z.object({ event_id: z.string().optional(), cursor: z.string() }),
  }),
});
const prefix = 'notifications/service/';

/** How long nothing may come before the reader gives the stream up; shorter than the service's own signs of life. */
const patience_ms = 5_000;

/** The stream of an MCP client (text/event-stream with Last-Event-ID), until it ends or is silent for too long. */
export async function eventStream(visit: Visit): Promise<void> {
  const { base, agent, cursor, complain, signal } = visit;
  const silent = new AbortController();
  const giveUp = () => silent.abort();
  let timer = setTimeout(giveUp, patience_ms);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const headers = {
      Authorization: `Bearer ${agent.tokens.mcp}`,
      Accept: 'text/event-stream',
      'Last-Event-ID': cursor,
    };
    const response = await fetch(`${base}/mcp`, {
      headers,
      signal: silent.signal,
    });
    if (!response.ok || !response.body) {
      if (response.status !== 503)
        complain(`the stream is answered ${response.status} ${await response.text()}`);
      return;
    }
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, patience_ms);
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) takeBlock(block, visit);
    }
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError) complain(error.message);
    // Anything else is the end of the connection.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function takeBlock(block: string, { take, complain }: Visit): void {
  const fields = new Map(block.split('\n').map((line) => splitAt(line, line.indexOf(': '))));
  const data = fields.get('data');
  if (!data) return; // a sign of life, or where the stream begins
  const { method, params } = notification.parse(JSON.parse(data));
  const {
    _meta: { event_id, cursor },
  } = params;
  if (cursor !== fields.get('id'))
    complain(`the id of a notification is not its cursor: ${block.slice(0, 200)}`);
  if (event_id === undefined) return complain(`the stream says ${data.slice(0, 200)}`);
  const type = method.slice(prefix.length).replace('_', '.');
  take({ event_id, type, cursor, subject: subjectOf(type, params) });
}

function splitAt(line: string, at: number): [name: string, value: string] {
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 2)];
}
