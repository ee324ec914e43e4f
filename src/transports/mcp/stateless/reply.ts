import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { sseMessage, type SseStream } from '../notifications/sse.ts';
import { sendStream } from './request-stream.ts';

/** The response to one request: one JSON body, or an event stream if something is sent before the result. */
export interface Reply {
  /** Aborts when the connection closes. */
  signal: AbortSignal;
  /** Sends a notification. The response becomes an event stream. */
  notify(method: string, params: Record<string, unknown>): void;
  /** Sends the result or the error. An event stream has the status 200. */
  send(answer: { result: object } | { error: object }, status?: number): void;
  /** Resolves when the HTTP response has its head, or the connection has closed. */
  begun: Promise<void>;
}

/** Creates the reply to a request. `openSse` creates its event stream, if it needs one. */
export function createReply(ctx: Context, id: JSONRPCRequest['id'], openSse: () => SseStream): Reply {
  const disconnected = new AbortController();
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let sse: SseStream | undefined;
  ctx.res.once('close', () => {
    disconnected.abort();
    begin();
  });

  function openStream(): SseStream {
    const opened = openSse();
    sendStream(ctx, opened);
    begin();
    return opened;
  }

  return {
    signal: disconnected.signal,
    notify(method, params) {
      if (disconnected.signal.aborted) return;
      sse ??= openStream();
      void sse.write(sseMessage(JSON.stringify({ jsonrpc: '2.0', method, params })));
    },
    send(answer, status = 200) {
      const message = { jsonrpc: '2.0', id, ...answer };
      if (sse) {
        void sse.write(sseMessage(JSON.stringify(message)));
        sse.end();
        return;
      }
      ctx.status = status;
      ctx.body = message;
      begin();
    },
    begun,
  };
}
