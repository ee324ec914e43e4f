import { z } from 'zod';
import { postRawMessage } from './client.ts';
import { type CallResult, readResult } from './eliciting-client.ts';
import { openSseStream, type SseClient } from '../sse.ts';

const message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.unknown().optional(),
});

/** A session whose client can show forms; answers its id. */
export async function openElicitingSession(
  url: string,
  token: string,
  elicitation: object = {},
): Promise<string> {
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation }, clientInfo };
  const answer = await postRawMessage(url, token, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  return answer.headers.get('mcp-session-id') ?? '';
}

export interface RawSession {
  url: string;
  token: string;
  session: string;
}

const headersOf = ({ token, session }: RawSession) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'Mcp-Session-Id': session,
});

/** A call whose stream the test reads by itself. */
export async function startToolCall(sender: RawSession, id: number, name: string, args: object) {
  const call = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
  const stream: SseClient = await openSseStream(`${sender.url}/mcp`, headersOf(sender), JSON.stringify(call));
  const readNth = async (count: number) =>
    message.parse(JSON.parse((await stream.events(count))[count - 1]?.data ?? ''));
  return {
    stream,
    /** The id of the question that it asks. */
    async nextElicitation(): Promise<string> {
      const { id: asked, method } = await readNth(1);
      if (method !== 'elicitation/create') throw new Error(`not a question: ${method}`);
      return String(asked);
    },
    nth: readNth,
    /** The result that comes as the nth message. */
    result: async (count: number): Promise<CallResult> => readResult((await readNth(count)).result),
  };
}

/** Sends any message beside the calls; answers the status. */
export async function post(sender: RawSession, body: object): Promise<number> {
  return (await postRawMessage(sender.url, sender.token, body, headersOf(sender))).status;
}

export const acceptResult = { action: 'accept', content: { approve: true } };

/** Answers a question. */
export const answerElicitation = (sender: RawSession, id: string, result: object = acceptResult) =>
  post(sender, { jsonrpc: '2.0', id, result });
