import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { toDomainError } from '../http/errors.ts';
import type { LiveEvent, OpenStream, Realtime, StreamEnd, StreamReader } from '../../realtime/contract.ts';
import { envelopeText } from '../../operations/event-envelope.ts';
import { type CallParts, type Calls, createCalls } from './calls.ts';
import { type ControlFrame, parseControlFrame, readFrame } from './client-frames.ts';
import { closeCodes, type WebSocketLimits } from './limits.ts';
import { createFrameSender, type FrameSender } from './frame-sender.ts';
import { frameText } from './server-frames.ts';

export interface Connection extends Omit<StreamReader, 'transport'> {
  /** Sends a protocol ping if one is due, or cuts a connection that left two unanswered. */
  pingIfDue(now: number): void;
  /** Ends the waits of calls, and refuses further calls. */
  stopCalls(): void;
  /** Sends a close frame after everything that was sent before. */
  end(code: number, reason: string): void;
  /** Closes the socket without a close frame. */
  terminate(): void;
}

export interface ConnectionParts {
  actor: Actor;
  stream: OpenStream;
  pending_events: number;
  realtime: Pick<Realtime, 'acknowledge'>;
  limits: WebSocketLimits;
  calls: CallParts;
  log(message: string, error: unknown): void;
  /** Called when the connection is closed because the client does not read. */
  onSlowReader(): void;
}

const closeReasons: Record<StreamEnd, readonly [code: number, reason: string]> = {
  token_ended: [closeCodes.policy, 'The access token has ended.'],
  shutdown: [closeCodes.going_away, 'The server is shutting down. Reconnect with your cursor.'],
  position_expired: [
    closeCodes.slow_reader,
    'Too slow: unread events were removed. Reconnect with your cursor.',
  ],
  failed: [closeCodes.internal, 'The event feed cannot be read. Reconnect with your cursor.'],
};

const pong = frameText({ type: 'pong' });

/** Serves an open WebSocket: sends the ready frame and the events of the stream, and handles the frames of the client. */
export function serveConnection(ws: WebSocket, socket: Duplex, parts: ConnectionParts): Connection {
  const { actor, stream, limits } = parts;
  /** Threads to which the connection is limited; empty when it gets the events of all threads. */
  const threadIds = new Set<string>();
  const sender = createFrameSender(ws, socket, limits, () => {
    if (ws.readyState === ws.OPEN) parts.onSlowReader();
    end(closeCodes.slow_reader, 'Too slow. Reconnect with your cursor.');
  });

  const calls = createCallStarter(parts, sender);

  function end(code: number, reason: string): void {
    stream.close();
    calls.stop();
    ws.close(code, reason);
  }

  const handle = createFrameHandler(parts, sender, threadIds);
  receiveFrames(ws, limits, sender, { startCall: calls.start, handle, end });
  const pingIfDue = createHeartbeat(ws, limits.ping_ms);
  ws.on('close', () => {
    stream.close();
    calls.stop();
  });

  const { cursor, resumed, gap } = stream;
  const data = { agent_id: actor.agent_id, cursor, resumed, gap, pending_events: parts.pending_events };
  ws.send(frameText({ type: 'ready', data }));

  return {
    wants: (event: LiveEvent) =>
      threadIds.size === 0 || event.thread_id === null || threadIds.has(event.thread_id),
    deliver: (events) => sender.send(events.map(envelopeText)),
    onEnded: (reason) => end(...closeReasons[reason]),
    stopCalls: calls.stop,
    end,
    terminate: () => ws.terminate(),
    pingIfDue,
  };
}

interface FrameHandlers {
  /** As `Calls.start`. */
  startCall(frame: object): string | undefined;
  handle(frame: ControlFrame): void;
  end: Connection['end'];
}

/** Creates the calls of the connection when the first one arrives: most connections only receive. */
function createCallStarter({ actor, limits, calls: shared }: ConnectionParts, sender: FrameSender) {
  let calls: Calls | undefined;
  let isStopped = false;
  return {
    start(frame: object): string | undefined {
      calls ??= createCalls(shared, { actor, sender, maxCalls: limits.calls });
      if (isStopped) calls.stop();
      return calls.start(frame);
    },
    stop(): void {
      isStopped = true;
      calls?.stop();
    },
  };
}

/** Parses and counts the frames of the client. Protocol pings count too. Calls that are started do not: they have limits of their own. */
function receiveFrames(
  ws: WebSocket,
  limits: WebSocketLimits,
  sender: FrameSender,
  { startCall, handle, end }: FrameHandlers,
): void {
  const isWithinBudget = createFrameBudget(limits.frames_per_second);

  /** Counts a frame, and answers it. */
  function accept(answer: () => void): void {
    if (isWithinBudget()) return answer();
    const message = `Too many frames: send at most ${limits.frames_per_second} per second.`;
    replyError(sender, new DomainError('RATE_LIMITED', message));
    end(closeCodes.policy, 'Too many frames.');
  }

  function replyTo(frame: ControlFrame): void {
    try {
      handle(frame);
    } catch (error) {
      replyError(sender, toDomainError(error));
    }
  }

  /** Returns how to answer the frame; undefined when a call was started, which answers by itself. */
  function read(data: RawData, isBinary: boolean): (() => void) | undefined {
    if (isBinary || !Buffer.isBuffer(data))
      throw new DomainError('VALIDATION_ERROR', 'Binary frames are not supported. Send text frames.');
    const value = readFrame(data);
    if (value.type !== 'call') {
      const frame = parseControlFrame(value);
      return () => replyTo(frame);
    }
    const refusal = startCall(value);
    return refusal === undefined ? undefined : () => sender.reply(refusal);
  }

  ws.on('message', (data: RawData, isBinary: boolean) => {
    if (ws.readyState !== ws.OPEN) return;
    try {
      const answer = read(data, isBinary);
      if (answer) accept(answer);
    } catch (error) {
      accept(() => replyError(sender, toDomainError(error)));
    }
  });
  ws.on('ping', () => {
    if (ws.readyState === ws.OPEN) accept(() => undefined);
  });
}

function createFrameHandler(
  { actor, limits, realtime, log }: ConnectionParts,
  sender: FrameSender,
  threadIds: Set<string>,
): (frame: ControlFrame) => void {
  return function handle(frame) {
    switch (frame.type) {
      case 'ping':
        sender.reply(pong);
        break;
      case 'subscribe':
        if (threadIds.size >= limits.subscriptions && !threadIds.has(frame.thread_id)) {
          throw new DomainError(
            'VALIDATION_ERROR',
            `thread_id: a connection can subscribe to at most ${limits.subscriptions} threads`,
          );
        }
        threadIds.add(frame.thread_id);
        break;
      case 'unsubscribe':
        threadIds.delete(frame.thread_id);
        break;
      case 'ack':
        realtime.acknowledge(actor, frame.cursor).catch((thrown: unknown) => {
          const error = toDomainError(thrown);
          if (error.status >= 500) log('cannot store an acknowledged position', error.cause ?? error);
          replyError(sender, error);
        });
        break;
    }
  };
}

function createHeartbeat(ws: WebSocket, pingMs: number): Connection['pingIfDue'] {
  let unanswered = 0;
  // Jitter: connections that were opened together are not pinged together.
  let nextPing = Date.now() + pingMs * (0.5 + Math.random() / 2);
  ws.on('pong', () => {
    unanswered = 0;
  });

  return function pingIfDue(now) {
    if (now < nextPing || ws.readyState !== ws.OPEN) return;
    nextPing = now + pingMs;
    if (unanswered === 2) ws.terminate();
    else ws.ping();
    unanswered += 1;
  };
}

/** Returns a function that counts a frame, and returns whether the current second had at most `perSecond` of them. */
function createFrameBudget(perSecond: number): () => boolean {
  let startedAt = 0;
  let count = 0;
  return () => {
    const now = Date.now();
    if (now - startedAt >= 1_000) {
      startedAt = now;
      count = 0;
    }
    count += 1;
    return count <= perSecond;
  };
}

function replyError(sender: FrameSender, { code, message }: DomainError): void {
  sender.reply(frameText({ type: 'error', data: { code, message } }));
}
