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

/** A session with the service; without an id where the service has none for us. */
export interface Session {
  id: string | undefined;
  /** The revision that was agreed on. */
  version: string | undefined;
}

export interface PostOptions {
  address: URL;
  /** Throws for answers that are no success. */
  fetch: FetchLike;
  session: Session;
  /** Hears what the service says before its answer. */
  onMessage(message: JSONRPCMessage): void;
  /** Gives it up. */
  signal: AbortSignal;
}

export interface PostResult {
  /** Undefined for what is not answered. */
  answer: JSONRPCResponse | undefined;
  /** The session that the service has begun with it. */
  session_id: string | undefined;
}

/** Names the end of a stream; no service guesses it. */
const streamEndMethod = `notifications/${randomUUID()}`;

/**
 * Sends one message by a POST of its own (MCP, Transports: Sending Messages to the Server), and waits for its answer.
 * @throws {StreamEnded}, what `fetch` throws, and the reason of `signal`.
 */
export async function postMessage(message: JSONRPCMessage, posting: PostOptions): Promise<PostResult> {
  const { address, session, onMessage, signal } = posting;
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: postOnly(posting.fetch, isJSONRPCRequest(message)),
    ...(session.id !== undefined && { sessionId: session.id }),
  });
  if (session.version !== undefined) transport.setProtocolVersion(session.version);
  await transport.start();
  try {
    const answer = await new Promise<JSONRPCResponse | undefined>((resolve, reject) => {
      const giveUp = () => reject(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      const onmessage = (heard: JSONRPCMessage) => {
        if (isJSONRPCResultResponse(heard) || isJSONRPCErrorResponse(heard)) resolve(heard);
        else if ('method' in heard && heard.method === streamEndMethod)
          reject(new StreamEnded('no answer came'));
        else onMessage(heard);
      };
      // The SDK's transports take one handler of each kind.
      Object.assign(transport, { onmessage });
      const sent = () => (isJSONRPCRequest(message) ? 'the answer follows' : resolve(undefined));
      transport.send(message).then(sent, reject);
    });
    return { answer, session_id: transport.sessionId };
  } finally {
    await transport.close();
  }
}

/** The transport would open a stream of notifications by itself; that is done elsewhere. */
function postOnly(fetch: FetchLike, asks: boolean): FetchLike {
  return async (url, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const response = await fetch(url, init);
    if (asks && response.status === 202) throw new HttpStatusError(202, undefined);
    return withEndMessage(response, JSON.stringify({ jsonrpc: '2.0', method: streamEndMethod }));
  };
}
