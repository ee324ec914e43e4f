import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';

export interface RequestTransport extends Transport {
  /** Passes the request to the connected server. Resolves with the response; undefined if the server closes first. */
  request(request: JSONRPCRequest): Promise<JSONRPCResponse | undefined>;
}

/**
 * An SDK transport for one request. It is much cheaper than the SDK's HTTP transport with its web streams.
 * @param onMessage gets what the server sends before the response. Absent: it is dropped, because JSON has no room for it.
 */
export function createRequestTransport(onMessage?: (message: JSONRPCMessage) => void): RequestTransport {
  let answer: (response: JSONRPCResponse | undefined) => void = () => {};
  const transport: RequestTransport = {
    start: async () => {},
    async send(message: JSONRPCMessage) {
      if ('method' in message) onMessage?.(message);
      else answer(message);
    },
    async close() {
      answer(undefined);
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
