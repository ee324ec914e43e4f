import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { sendStream, sseMessage, type SseStream } from '../../http/sse.ts';

/** The response to one request: one JSON body, or an event stream if something is sent before the result. */
export interface Reply {
  /** Aborts when the connection closes. */
  signal: AbortSignal;
  /** Makes the response an event stream and sends its head. */
  open(): void;
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
    if (sse) return sse;
    sse = openSse();
    sendStream(ctx, sse);
    begin();
    return sse;
  }

  return {
    signal: disconnected.signal,
    open: () => void openStream(),
    notify(method, params) {
      if (disconnected.signal.aborted) return;
      void openStream().write(sseMessage(JSON.stringify({ jsonrpc: '2.0', method, params })));
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
