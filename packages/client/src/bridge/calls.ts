import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { toErrorResponse } from './error-responses.ts';
import type { ServiceConnection } from './service-connection.ts';

export interface CallsParts {
  link: Pick<ServiceConnection, 'begin' | 'send'>;
  address: URL;
  sendToClient(message: JSONRPCMessage): void;
  log(text: string): void;
}

/** Pending requests of the client. */
export interface Calls {
  /** Forwards a request and sends the response to the client, or an error response. Never rejects. */
  answer(request: JSONRPCRequest): Promise<void>;
  /** Drops the response of a cancelled request. */
  forget(id: RequestId | undefined): void;
  /** Aborts a cancelled request. */
  abortForgotten(id: RequestId | undefined): void;
  /** Records that the client has responded to a request of the service. */
  onClientResponse(id: RequestId | undefined): void;
  /** Resolves when no initialize request is pending. */
  whenInitialized(): Promise<void>;
  /** Aborts all requests without responses. */
  close(): void;
}

interface Running {
  abort: AbortController;
  isForgotten: boolean;
}

export function createCalls({ link, address, sendToClient, log }: CallsParts): Calls {
  const running = new Map<RequestId, Running>();
  /** Pending requests of the service to the client, each with the call that caused it. */
  const serverRequests = new Map<RequestId, RequestId>();
  let initializing: Promise<void> = Promise.resolve();

  /** Cancels requests of the service whose call has ended. */
  function cancelServerRequests(callId: RequestId): void {
    for (const [requestId, causeId] of serverRequests) {
      if (causeId !== callId) continue;
      serverRequests.delete(requestId);
      const params = { requestId, reason: 'the call has ended' };
      sendToClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
  }

  function forward(request: JSONRPCRequest, signal: AbortSignal) {
    if (isInitializeRequest(request)) return link.begin(request, signal);
    return link.send(request, signal, (message) => {
      if (isJSONRPCRequest(message)) serverRequests.set(message.id, request.id);
      sendToClient(message);
    });
  }

  async function run(request: JSONRPCRequest, initialized: Promise<void>): Promise<void> {
    const { id, method } = request;
    const call: Running = { abort: new AbortController(), isForgotten: false };
    running.set(id, call);
    try {
      await initialized;
      const answer = await forward(request, call.abort.signal);
      if (answer && !call.isForgotten) sendToClient(answer);
    } catch (error) {
      if (call.isForgotten) return;
      const response = toErrorResponse(id, error, address);
      log(`${method}: ${response.error.message}`);
      sendToClient(response);
    } finally {
      cancelServerRequests(id);
      if (running.get(id) === call) running.delete(id);
    }
  }

  return {
    answer(request) {
      const done = run(request, initializing);
      if (isInitializeRequest(request)) initializing = done;
      return done;
    },
    forget(id) {
      const call = id !== undefined && running.get(id);
      if (call) call.isForgotten = true;
    },
    abortForgotten(id) {
      const call = id !== undefined && running.get(id);
      if (call && call.isForgotten) call.abort.abort();
    },
    onClientResponse(id) {
      if (id !== undefined) serverRequests.delete(id);
    },
    whenInitialized: () => initializing,
    close() {
      for (const call of running.values()) {
        call.isForgotten = true;
        call.abort.abort();
      }
    },
  };
}
