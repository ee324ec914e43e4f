import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import { sendStream, sseMessage, type SseStream } from '../../http/sse.ts';
import { createRequestTransport } from './request-transport.ts';

export interface PostedRequests {
  requests: readonly JSONRPCRequest[];
  /** Answers that need no server. */
  refusals: readonly object[];
  /** Whether the answer is a list. */
  isBatch: boolean;
  /** Where the answers go; absent: one JSON body. */
  sse: SseStream | undefined;
  makeServer(): Server;
}

/**
 * Answers the requests of one POST, each with a server of its own. A request that ends without a response, because it was cancelled, is left
 * out; if none has one, the answer is 202.
 */
export async function answerRequests(ctx: Context, posted: PostedRequests): Promise<void> {
  const { requests, refusals, isBatch, sse, makeServer } = posted;
  const write =
    sse && ((message: object) => void sse.write(`event: message\n${sseMessage(JSON.stringify(message))}`));
  /** Those that have not answered. To close one costs as much as a query: the SDK creates an error for it. */
  const running = new Set<Server>();
  ctx.res.once('close', () => {
    for (const server of running) void closeServer(server);
  });

  async function answer(request: JSONRPCRequest): Promise<JSONRPCResponse | undefined> {
    const server = makeServer();
    running.add(server);
    const transport = createRequestTransport(write && ((message: JSONRPCMessage) => write(message)));
    await server.connect(transport);
    const response = await transport.request(request);
    running.delete(server);
    if (response) write?.(response);
    return response;
  }

  const answers = Promise.all(requests.map(answer));
  if (sse) {
    sendStream(ctx, sse);
    for (const refusal of refusals) write?.(refusal);
    void answers.finally(() => sse.end());
    return;
  }
  const messages = [...refusals, ...(await answers).filter((one) => one !== undefined)];
  if (messages.length === 0) accept(ctx);
  else ctx.body = isBatch ? messages : messages[0];
}

/** 202 without a body (MCP, Transports: Sending Messages to the Server). */
export function accept(ctx: Context): void {
  ctx.body = null;
  ctx.status = 202;
}

async function closeServer(server: Server): Promise<void> {
  try {
    await server.close();
  } catch (error) {
    server.onerror?.(new Error('closing', { cause: error }));
  }
}
