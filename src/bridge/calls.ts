import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { errorAnswer } from './error-answers.ts';
import type { Link } from './link.ts';

export interface CallsParts {
  link: Pick<Link, 'begin' | 'carry'>;
  address: URL;
  /** Says something to the client. */
  say(message: JSONRPCMessage): void;
  log(line: string): void;
}

/** Requests of the client that are not answered yet. */
export interface Calls {
  /** Answers one, with an error when the service cannot. Never rejects. */
  answer(request: JSONRPCRequest): Promise<void>;
  /** The client waits for it no longer: whatever comes is not said. */
  forget(id: RequestId | undefined): void;
  /** Gives it up, if it is forgotten. */
  drop(id: RequestId | undefined): void;
  /** The client has answered a request of the service. */
  answered(id: RequestId | undefined): void;
  /** Resolves when no session is being begun. */
  begun(): Promise<void>;
  /** Gives all of them up, without a word. */
  close(): void;
}

interface Running {
  abort: AbortController;
  forgotten: boolean;
}

export function createCalls({ link, address, say, log }: CallsParts): Calls {
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
      say({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
  }

  function carried(request: JSONRPCRequest, signal: AbortSignal) {
    if (isInitializeRequest(request)) return link.begin(request, signal);
    return link.carry(request, signal, (message) => {
      if (isJSONRPCRequest(message)) questions.set(message.id, request.id);
      say(message);
    });
  }

  async function run(request: JSONRPCRequest, first: Promise<void>): Promise<void> {
    const { id, method } = request;
    const call: Running = { abort: new AbortController(), forgotten: false };
    running.set(id, call);
    try {
      await first;
      const answer = await carried(request, call.abort.signal);
      if (answer && !call.forgotten) say(answer);
    } catch (error) {
      if (call.forgotten) return;
      const told = errorAnswer(id, error, address);
      log(`${method}: ${told.error.message}`);
      say(told);
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
    drop(id) {
      const call = id !== undefined && running.get(id);
      if (call && call.forgotten) call.abort.abort();
    },
    answered(id) {
      if (id !== undefined) questions.delete(id);
    },
    begun: () => beginning,
    close() {
      for (const call of running.values()) {
        call.forgotten = true;
        call.abort.abort();
      }
    },
  };
}
