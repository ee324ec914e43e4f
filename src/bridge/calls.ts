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
  /** Says something to the client. */
  sendToClient(message: JSONRPCMessage): void;
  log(line: string): void;
}

/** Requests of the client that are not answered yet. */
export interface Calls {
  /** Answers one, with an error when the service cannot. Never rejects. */
  answer(request: JSONRPCRequest): Promise<void>;
  /** The client waits for it no longer: whatever comes is not said. */
  forget(id: RequestId | undefined): void;
  /** Gives it up, if it is forgotten. */
  abortForgotten(id: RequestId | undefined): void;
  /** The client has answered a request of the service. */
  onClientResponse(id: RequestId | undefined): void;
  /** Resolves when no session is being begun. */
  whenInitialized(): Promise<void>;
  /** Gives all of them up, without a word. */
  close(): void;
}

interface Running {
  abort: AbortController;
  forgotten: boolean;
}

export function createCalls({ link, address, sendToClient, log }: CallsParts): Calls {
  const running = new Map<RequestId, Running>();
  /** Requests of the service that the client has not answered, with the call that they belong to. */
  const questions = new Map<RequestId, RequestId>();
  let beginning: Promise<void> = Promise.resolve();

  /** Nobody waits any more for what the service asked during a call that is over. */
  function takeBack(call: RequestId): void {
    for (const [requestId, of] of questions) {
      if (of !== call) continue;
      questions.delete(requestId);
      const params = { requestId, reason: 'the call is over' };
      sendToClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
  }

  function carried(request: JSONRPCRequest, signal: AbortSignal) {
    if (isInitializeRequest(request)) return link.begin(request, signal);
    return link.send(request, signal, (message) => {
      if (isJSONRPCRequest(message)) questions.set(message.id, request.id);
      sendToClient(message);
    });
  }

  async function run(request: JSONRPCRequest, first: Promise<void>): Promise<void> {
    const { id, method } = request;
    const call: Running = { abort: new AbortController(), forgotten: false };
    running.set(id, call);
    try {
      await first;
      const answer = await carried(request, call.abort.signal);
      if (answer && !call.forgotten) sendToClient(answer);
    } catch (error) {
      if (call.forgotten) return;
      const told = toErrorResponse(id, error, address);
      log(`${method}: ${told.error.message}`);
      sendToClient(told);
    } finally {
      takeBack(id);
      if (running.get(id) === call) running.delete(id);
    }
  }

  return {
    answer(request) {
      const done = run(request, beginning);
      if (isInitializeRequest(request)) beginning = done;
      return done;
    },
    forget(id) {
      const call = id !== undefined && running.get(id);
      if (call) call.forgotten = true;
    },
    abortForgotten(id) {
      const call = id !== undefined && running.get(id);
      if (call && call.forgotten) call.abort.abort();
    },
    onClientResponse(id) {
      if (id !== undefined) questions.delete(id);
    },
    whenInitialized: () => beginning,
    close() {
      for (const call of running.values()) {
        call.forgotten = true;
        call.abort.abort();
      }
    },
  };
}
