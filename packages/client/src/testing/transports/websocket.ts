import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { execute, operations } from '../operations/execute.ts';
import {
  acknowledge,
  countPending,
  encodeCursor,
  markDelivered,
  presentEvent,
  readEvents,
  startPosition,
} from '../core/feed.ts';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import { isId } from '../../../../core/src/domain/ids.ts';
import { handshakeQuery } from '../../../../core/src/inputs/events.ts';
import { parseInput } from '../../../../core/src/inputs/parse-input.ts';
import { requireFeedScope } from '../../../../core/src/events/feed-scopes.ts';
import { errorBody, toDomainError } from '../core/errors.ts';
import { type Call, enter, type State } from '../core/state.ts';
import { authenticate, bearerToken, challengeFor, isValidToken, redeemTicket } from './tokens.ts';

const maxFrameBytes = 256 * 1024;

export interface WebSocketTransport {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Cuts every connection without a close frame. */
  disconnect(): void;
  /** Closes every connection with this code. */
  close(code: number, reason: string): void;
}

/** Creates the WebSocket transport of the fake service. */
export function createWebSocketTransport(state: State): WebSocketTransport {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    handleProtocols: (protocols) => (protocols.has('bearer') ? 'bearer' : false),
  });

  function open(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const gone = new AbortController();
    let hasToken = searchParams.has('ticket');
    try {
      if (pathname !== '/ws') throw new DomainError('NOT_FOUND', 'The WebSocket endpoint is /ws.');
      const { cursor } = parseInput(handshakeQuery, parseQuery(search.slice(1)));
      const token = readToken(state, request, searchParams);
      hasToken = true;
      const call = authenticate(state, token, gone.signal);
      requireFeedScope(call);
      const start = startPosition(call.me, cursor, 'latest');
      server.handleUpgrade(request, socket, head, (ws) => {
        ws.on('close', () => gone.abort());
        serve(ws, call, start);
      });
    } catch (thrown) {
      const error = toDomainError(thrown);
      refuse(socket, error, challengeFor(state, error, hasToken));
    }
  }

  return {
    upgrade: open,
    disconnect() {
      for (const ws of server.clients) ws.terminate();
    },
    close(code, reason) {
      for (const ws of server.clients) ws.close(code, reason);
    },
  };
}

function readToken(state: State, { headers }: IncomingMessage, query: URLSearchParams): string {
  const [protocol, token] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const bearer = bearerToken(headers.authorization) ?? (protocol === 'bearer' ? token : undefined);
  const ticket = query.get('ticket');
  const found = bearer ?? (ticket === null ? undefined : redeemTicket(state, ticket));
  if (found !== undefined) return found;
  throw new DomainError(
    'UNAUTHORIZED',
    ticket === null
      ? 'Authentication required: send Authorization: Bearer <access token>, the subprotocols bearer and the token, or a ticket from POST /v1/realtime/tickets.'
      : 'This ticket is unknown, was used or has expired; request a new one.',
  );
}

function refuse(socket: Duplex, error: DomainError, challenge: string | undefined): void {
  const request_id = randomUUID();
  const body = JSON.stringify(errorBody(error, request_id));
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${request_id}`,
    ...(challenge === undefined ? [] : [`WWW-Authenticate: ${challenge}`]),
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

type Start = ReturnType<typeof startPosition>;

/** Sends the ready frame and the events, and answers frames. */
function serve(ws: WebSocket, call: Call, start: Start): void {
  const { state, me, token, scopes } = call;
  const threadIds = new Set<string>();
  const send = (frame: object) => ws.send(JSON.stringify(frame));
  const leave = enter(state, me.id);
  let { position } = start;
  let isDue = false;

  function flush(): void {
    isDue = false;
    while (ws.readyState === ws.OPEN) {
      const page = readEvents(me, scopes, position, 100);
      if (page.gap)
        return ws.close(4008, 'Too slow: unread events were removed. Reconnect with your cursor.');
      const wanted = page.events.map(
        ({ thread_id }) => threadIds.size === 0 || thread_id === null || threadIds.has(thread_id),
      );
      for (const [index, event] of page.events.entries())
        if (wanted[index]) send(presentEvent(me, event, page.numbers[index] ?? 0));
      ({ position } = page);
      markDelivered(
        state,
        me,
        page.events.filter((_, index) => wanted[index]),
      );
      if (page.complete) return;
    }
  }
  /** After the answer of the call that caused the event. */
  function onEvent(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(flush);
  }
  function onTokensEnded(): void {
    if (!isValidToken(state, token)) ws.close(1008, 'The access token has ended. Get a new one.');
  }

  me.feed.listeners.add(onEvent);
  state.onTokensEnded.add(onTokensEnded);
  ws.on('close', () => {
    me.feed.listeners.delete(onEvent);
    state.onTokensEnded.delete(onTokensEnded);
    leave();
  });
  ws.on('error', () => undefined);
  ws.on('message', (data: Buffer, isBinary) => {
    try {
      const frame = isBinary ? undefined : parseFrame(data.toString());
      if (!frame)
        throw new DomainError('VALIDATION_ERROR', 'Binary frames are not supported. Send text frames.');
      if (frame['type'] === 'call') void answerCall(call, frame).then(send);
      else answerFrame(call, frame, threadIds, send);
    } catch (thrown) {
      const { code, message } = toDomainError(thrown);
      send({ type: 'error', data: { code, message } });
    }
  });
  const { resumed, gap } = start;
  const pending = countPending(me, scopes);
  const cursor = encodeCursor(me, position);
  send({ type: 'ready', data: { agent_id: me.id, cursor, resumed, gap, ...pending } });
  flush();
}

type Frame = Record<string, unknown>;

function parseFrame(text: string): Frame {
  try {
    return Object(JSON.parse(text)) as Frame;
  } catch {
    throw new DomainError('INVALID_JSON', 'The frame is not valid JSON.');
  }
}

function answerFrame(call: Call, frame: Frame, threadIds: Set<string>, send: (frame: object) => void): void {
  const { type, thread_id, cursor } = frame;
  if (type === 'ping') return send({ type: 'pong' });
  if (type === 'ack' && typeof cursor === 'string') return acknowledge(call.state, call.me, cursor);
  if (type === 'ack') throw wrongField('cursor', 'is required');
  if (type !== 'subscribe' && type !== 'unsubscribe')
    throw new DomainError('VALIDATION_ERROR', 'type: must be ping, subscribe, unsubscribe, ack, or call');
  if (typeof thread_id !== 'string' || !isId('thread', thread_id))
    throw wrongField('thread_id', 'must be a thread identifier, thd_…');
  if (type === 'subscribe') threadIds.add(thread_id);
  else threadIds.delete(thread_id);
}

async function answerCall(connection: Call, frame: Frame): Promise<object> {
  const { id, operation: name, input = {}, idempotency_key } = frame;
  try {
    const operation = operations.get(String(name));
    if (!operation || operation.upload)
      throw wrongField(
        'operation',
        'is not an operation. The names are the operation ids of /v1/openapi.json',
      );
    if (idempotency_key === undefined && operation.idempotency === 'required')
      throw new DomainError(
        'IDEMPOTENCY_KEY_REQUIRED',
        `${String(name)} needs idempotency_key. Send a unique value, such as a UUID.`,
      );
    const call = authenticate(connection.state, connection.token, connection.signal);
    const key = operation.idempotency && typeof idempotency_key === 'string' ? idempotency_key : undefined;
    const { output, isReplayed } = await execute(call, String(name), Object(input) as Frame, key);
    const status = operation.status === 302 ? 200 : operation.status;
    return { type: 'result', id, status, ...(isReplayed && { replayed: true }), output };
  } catch (thrown) {
    const error = toDomainError(thrown);
    const { retry_after } = error;
    const again = retry_after === undefined ? {} : { retry_after };
    return { type: 'result', id, status: error.status, ...again, ...errorBody(error, randomUUID()) };
  }
}
