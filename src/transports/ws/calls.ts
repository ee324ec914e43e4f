import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { type ReplyMessage, replyOf } from '../../operations/execute/await-reply.ts';
import type { Answer } from '../../operations/execute/context.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { Operation } from '../../operations/define.ts';
import { errorBody, toDomainError } from '../http/errors.ts';
import { requestIdOf } from '../http/requests/request-id.ts';
import { type CallFrame, parseCallFrame, readCallId } from './call-frame.ts';
import type { FrameSender } from './frame-sender.ts';
import { frameText } from './server-frames.ts';

/** What the calls of all connections share. */
export interface CallParts {
  execute: Execute;
  /** The operations by name. */
  operations: ReadonlyMap<string, Operation>;
  /** Verifies the token of the connection before each call, as REST does for each request. @throws {DomainError} UNAUTHORIZED */
  confirm(tokenId: string): Promise<Actor>;
  /** The calls in flight on all connections. */
  running: Set<Promise<void>>;
  /** Called when an answer with a reply was sent. */
  onReplySent(actor: Actor, reply: ReplyMessage): void;
  log(message: string, error: unknown): void;
}

/** The calls of one connection. */
export interface Calls {
  /** Starts the call of a frame, or returns the text that refuses it. */
  start(frame: object): string | undefined;
  /** Ends the waits for replies, and refuses further calls: the connection or the process ends. */
  stop(): void;
}

export interface ConnectionOfCalls {
  actor: Actor;
  sender: Pick<FrameSender, 'isOpen' | 'send'>;
  /** Maximum calls in flight. */
  maxCalls: number;
}

/**
 * Runs the calls of one connection concurrently. A call is in flight until its result has left the buffer of the connection: a client that
 * does not read its results is refused further calls.
 */
export function createCalls(parts: CallParts, { actor, sender, maxCalls }: ConnectionOfCalls): Calls {
  const ids = new Set<string>();
  const stopped = new AbortController();

  async function answer(frame: CallFrame, operation: Operation): Promise<void> {
    try {
      const result = await parts.execute({
        operation,
        actor: await parts.confirm(actor.token_id),
        input: frame.input,
        idempotency_key: keyOf(frame, operation),
        signal: stopped.signal,
      });
      if (!sender.isOpen()) return;
      await sender.send([resultText(frame.id, operation, result)]);
      const reply = operation.reply && replyOf(result.output);
      if (reply) parts.onReplySent(actor, reply);
    } catch (thrown) {
      const error = toDomainError(thrown);
      const request_id = requestIdOf(undefined);
      if (error.status >= 500) {
        parts.log(`WebSocket call of ${operation.name} failed, request ${request_id}`, error.cause ?? error);
      }
      await sender.send([refusalText(frame.id, error, request_id)]);
    }
  }

  function run(frame: CallFrame, operation: Operation): void {
    ids.add(frame.id);
    const task = answer(frame, operation).finally(() => {
      ids.delete(frame.id);
      parts.running.delete(task);
    });
    parts.running.add(task);
  }

  return {
    start(value) {
      const id = readCallId(value);
      // A result with this id would answer the first call.
      if (ids.has(id)) throw wrongField('id', `a call with the id ${id} is in flight`);
      try {
        if (stopped.signal.aborted) throw shuttingDown();
        if (ids.size >= maxCalls) throw tooManyCalls(maxCalls);
        const frame = parseCallFrame(value);
        run(frame, findOperation(parts.operations, frame.operation));
        return undefined;
      } catch (error) {
        return refusalText(id, toDomainError(error), requestIdOf(undefined));
      }
    },
    stop: () => stopped.abort(),
  };
}

/** @throws {DomainError} VALIDATION_ERROR */
function findOperation(operations: ReadonlyMap<string, Operation>, name: string): Operation {
  const operation = operations.get(name);
  if (!operation) {
    throw wrongField('operation', 'is not an operation. The names are the operation ids of /v1/openapi.json');
  }
  if (operation.file) {
    throw wrongField(
      'operation',
      `${name} takes a file, which a frame cannot carry. Use POST /v1/attachments or request_upload`,
    );
  }
  return operation;
}

/** @throws {DomainError} IDEMPOTENCY_KEY_REQUIRED where REST requires the header */
function keyOf({ idempotency_key }: CallFrame, { name, rest }: Operation): string | undefined {
  if (rest && !rest.idempotency) return undefined;
  if (idempotency_key === undefined && rest?.idempotency === 'required') {
    throw new DomainError(
      'IDEMPOTENCY_KEY_REQUIRED',
      `${name} needs idempotency_key. Send a unique value, such as a UUID.`,
    );
  }
  return idempotency_key;
}

/** The text of a result. The body is JSON text already; a repeated call gets the same bytes. */
function resultText(id: string, { rest }: Operation, { body, replayed }: Answer): string {
  const status = rest && !rest.redirect ? rest.status : 200;
  const replay = replayed ? '"replayed":true,' : '';
  return `{"type":"result","id":${JSON.stringify(id)},"status":${status},${replay}"output":${body}}`;
}

function refusalText(id: string, error: DomainError, request_id: string): string {
  const { status, retry_after } = error;
  const again = retry_after === undefined ? {} : { retry_after };
  return frameText({ type: 'result', id, status, ...again, ...errorBody(error, request_id, 'call') });
}

function tooManyCalls(maxCalls: number): DomainError {
  const message = `At most ${maxCalls} calls can be in flight on a connection. Wait for a result, and read the results.`;
  return new DomainError('RATE_LIMITED', message, { retry_after: 1 });
}

function shuttingDown(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is shutting down. Reconnect.', { retry_after: 1 });
}
