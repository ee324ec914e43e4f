import { randomUUID } from 'node:crypto';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { HttpStatusError, StreamEnded } from './errors.ts';
import { withEndMessage } from './stream-end-marker.ts';

/** A session with the service; `id` is undefined if the service uses none. */
export interface Session {
  id: string | undefined;
  /** The negotiated protocol revision. */
  version: string | undefined;
}

export interface PostOptions {
  address: URL;
  /** Throws for error statuses. */
  fetch: FetchLike;
  session: Session;
  /** Receives the messages before the response. */
  onMessage(message: JSONRPCMessage): void;
  /** Aborts the request. */
  signal: AbortSignal;
}

export interface PostResult {
  /** Undefined for messages without a response. */
  answer: JSONRPCResponse | undefined;
  /** The session that the service opened with this message. */
  session_id: string | undefined;
}

/** Marks the end of a stream; random, so that the service cannot send it. */
const streamEndMethod = `notifications/${randomUUID()}`;

/**
 * Sends one message with a POST request (MCP, Transports: Sending Messages to the Server) and waits for its response.
 * @throws {StreamEnded}; the errors of `fetch`; the reason of `signal`
 */
export async function postMessage(message: JSONRPCMessage, options: PostOptions): Promise<PostResult> {
  const { address, session, onMessage, signal } = options;
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: postOnly(options.fetch, isJSONRPCRequest(message)),
    ...(session.id !== undefined && { sessionId: session.id }),
  });
  if (session.version !== undefined) transport.setProtocolVersion(session.version);
  await transport.start();
  try {
    const answer = await new Promise<JSONRPCResponse | undefined>((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const onmessage = (received: JSONRPCMessage) => {
        if (isJSONRPCResultResponse(received) || isJSONRPCErrorResponse(received)) resolve(received);
        else if ('method' in received && received.method === streamEndMethod)
          reject(new StreamEnded('the stream ended without a response'));
        else onMessage(received);
      };
      // SDK transports have one handler property for each event.
      Object.assign(transport, { onmessage });
      const onSent = () => {
        if (!isJSONRPCRequest(message)) resolve(undefined);
      };
      transport.send(message).then(onSent, reject);
    });
    return { answer, session_id: transport.sessionId };
  } finally {
    await transport.close();
  }
}

/** Keeps the transport from opening a notification stream itself; followNotifications does so. */
function postOnly(fetch: FetchLike, isRequest: boolean): FetchLike {
  return async (url, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const response = await fetch(url, init);
    if (isRequest && response.status === 202) throw new HttpStatusError(202, undefined);
    return withEndMessage(response, JSON.stringify({ jsonrpc: '2.0', method: streamEndMethod }));
  };
}
