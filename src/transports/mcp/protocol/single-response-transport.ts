import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';

export interface SingleResponseTransport extends Transport {
  /** Passes the request to the connected server. Resolves with the response; never resolves if the server closes first. */
  request(request: JSONRPCRequest): Promise<JSONRPCResponse>;
}

/**
 * An SDK transport for one request with one JSON response, as nearly every POST is. It is much cheaper than the SDK's HTTP
 * transport with its web streams. Other messages of the server are dropped, as the SDK does for JSON responses.
 */
export function createSingleResponseTransport(): SingleResponseTransport {
  let onResponse: ((message: JSONRPCResponse) => void) | undefined;
  const transport: SingleResponseTransport = {
    start: async () => {},
    async send(message: JSONRPCMessage) {
      if (!('method' in message)) onResponse?.(message);
    },
    async close() {
      transport.onclose?.();
    },
    request(request) {
      return new Promise((resolve) => {
        onResponse = resolve;
        transport.onmessage?.(request);
      });
    },
  };
  return transport;
}
