import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';

export interface SingleResponseTransport extends Transport {
  /** Hands the request to the server that is connected; resolves with its answer, and never when the server is closed before. */
  request(request: JSONRPCRequest): Promise<JSONRPCResponse>;
}

/**
 * The transport of one request that is answered by one message, as nearly every POST is. The SDK's transport for HTTP takes any
 * body apart and answers by web streams, which costs more than most answers. What else a server says while it works has no
 * place in one JSON body, and is dropped, as there.
 */
export function createSingleResponseTransport(): SingleResponseTransport {
  let answer: ((message: JSONRPCResponse) => void) | undefined;
  const transport: SingleResponseTransport = {
    start: async () => {},
    async send(message: JSONRPCMessage) {
      if (!('method' in message)) answer?.(message);
    },
    async close() {
      transport.onclose?.();
    },
    request(request) {
      return new Promise((resolve) => {
        answer = resolve;
        transport.onmessage?.(request);
      });
    },
  };
  return transport;
}
