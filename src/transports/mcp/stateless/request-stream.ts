import {
  type JSONRPCRequest,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server';
import { sseMessage, type SseStream } from '../../http/sse.ts';
import type { serverInfo } from '../protocol/server.ts';

export interface Notification {
  jsonrpc: '2.0';
  method: string;
  params: unknown;
}

export interface RequestStream extends SseStream {
  /** Sends notifications. Resolves when there is room for more. */
  notify(messages: readonly Notification[]): Promise<void>;
}

/** A stream whose notifications name the request, and whose end is the result of the request. */
export function createRequestStream(
  sse: SseStream,
  id: JSONRPCRequest['id'],
  info: ReturnType<typeof serverInfo>,
): RequestStream {
  const meta = { [SUBSCRIPTION_ID_META_KEY]: id };
  let ended = false;
  return {
    ...sse,
    async notify(messages) {
      if (messages.length > 0) await sse.write(messages.map((one) => notificationText(one, id)).join(''));
    },
    end() {
      if (ended) return;
      ended = true;
      const result = { resultType: 'complete', _meta: { ...meta, [SERVER_INFO_META_KEY]: info } };
      void sse.write(sseMessage(JSON.stringify({ jsonrpc: '2.0', id, result })));
      sse.end();
    },
  };
}

/** A notification as SSE, with the id of the request in `_meta`. */
export function notificationText({ params, ...message }: Notification, id: JSONRPCRequest['id']): string {
  const { _meta, ...fields } = Object(params) as { _meta?: object };
  const meta = { ..._meta, [SUBSCRIPTION_ID_META_KEY]: id };
  return sseMessage(JSON.stringify({ ...message, params: { ...fields, _meta: meta } }));
}
