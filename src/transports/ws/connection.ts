import type { Duplex } from 'node:stream';
import { type RawData, WebSocket } from 'ws';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { toDomainError } from '../http/errors.ts';
import type {
  FeedStatus,
  LiveEvent,
  OpenStream,
  Realtime,
  StreamEnd,
  StreamReader,
} from '../../realtime/contract.ts';
import { envelopeText } from '../../operations/event-envelope.ts';
import { type CallParts, type Calls, createCalls } from './calls.ts';
import { type ControlFrame, parseControlFrame, readFrame } from './client-frames.ts';
import { closeCodes, type WebSocketLimits } from './limits.ts';
import { FrameSender } from './frame-sender.ts';
import { frameText } from './server-frames.ts';
import { steadyNow } from '../../shared/clock.ts';

/** What all connections share. */
export interface ConnectionParts {
  realtime: Pick<Realtime, 'acknowledge'>;
  limits: WebSocketLimits;
  calls: CallParts;
  log(message: string, error: unknown): void;
  /** Called when a connection is closed because the client does not read. */
  onSlowReader(): void;
  /** Called when a connection is closed. */
  onClosed(connection: Connection, code: number): void;
}

/** What a connection serves. */
export interface ConnectionOptions {
  ws: ServedWebSocket;
  socket: Duplex;
  actor: Actor;
  stream: OpenStream;
  pending: Omit<FeedStatus, 'cursor'>;
}

/** A WebSocket with its connection, so that all of them share one set of listeners. */
export class ServedWebSocket extends WebSocket {
  connection?: Connection;
}

const closeReasons: Record<StreamEnd, readonly [code: number, reason: string]> = {
  token_ended: [closeCodes.policy, 'The access token has ended. Get a new one.'],
  shutdown: [closeCodes.going_away, 'The server is shutting down. Reconnect with your cursor.'],
  position_expired: [
    closeCodes.slow_reader,
    'Too slow: unread events were removed. Reconnect with your cursor.',
  ],
  failed: [closeCodes.internal, 'The event feed cannot be read. Reconnect with your cursor.'],
};

const pong = frameText({ type: 'pong' });

/**
 * Serves an open WebSocket: sends the ready frame and the events of the stream, and handles the frames of the client.
 *
 * A class, because closures would take 2.5 KB more for each idle connection.
 */
export class Connection implements Omit<StreamReader, 'transport'> {
  readonly #ws: WebSocket;
  readonly #actor: Actor;
  readonly #stream: OpenStream;
  readonly #parts: ConnectionParts;
  readonly #sender: FrameSender;
  /** Threads to which the connection is limited; absent until it subscribes. It gets the events of all threads when there are none. */
  #threadIds: Set<string> | undefined;
  /** Absent until the first call: most connections only receive. */
  #calls: Calls | undefined;
  #hasStoppedCalls = false;
  /** The second in which frames are counted, in epoch milliseconds, and their number. */
  #countedFrom = 0;
  #frameCount = 0;
  #nextPing: number;
  #unansweredPings = 0;

  constructor(parts: ConnectionParts, { ws, socket, actor, stream, pending }: ConnectionOptions) {
    this.#ws = ws;
    this.#actor = actor;
    this.#stream = stream;
    this.#parts = parts;
    this.#sender = new FrameSender(ws, socket, parts.limits, this);
    // Jitter: connections that were opened together are not pinged together.
    this.#nextPing = steadyNow() + parts.limits.ping_ms * (0.5 + Math.random() / 2);
    ws.connection = this;
    ws.on('message', receiveMessage);
    ws.on('ping', receivePing);
    ws.on('pong', receivePong);
    ws.on('close', receiveClose);
    ws.on('error', ignoreError);

    const { cursor, resumed, gap } = stream;
    ws.send(
      frameText({ type: 'ready', data: { agent_id: actor.agent_id, cursor, resumed, gap, ...pending } }),
    );
  }

  wants(event: LiveEvent): boolean {
    const threadIds = this.#threadIds;
    return !threadIds?.size || event.thread_id === null || threadIds.has(event.thread_id);
  }

  deliver(events: readonly LiveEvent[]): Promise<void> | undefined {
    return this.#sender.send(events.map(envelopeText));
  }

  onEnded(reason: StreamEnd): void {
    this.end(...closeReasons[reason]);
  }

  onSlow(): void {
    if (this.#sender.isOpen()) this.#parts.onSlowReader();
    this.end(closeCodes.slow_reader, 'Too slow. Reconnect with your cursor.');
  }

  /** Ends the waits of calls, and refuses further calls. */
  stopCalls(): void {
    this.#hasStoppedCalls = true;
    this.#calls?.stop();
  }

  /** Sends a close frame after everything that was sent before. */
  end(code: number, reason: string): void {
    this.#stream.close();
    this.stopCalls();
    this.#ws.close(code, reason);
  }

  /** Closes the socket without a close frame. */
  terminate(): void {
    this.#ws.terminate();
  }

  /** Sends a protocol ping if one is due, or cuts a connection that left two unanswered. */
  pingIfDue(now: number): void {
    if (now < this.#nextPing || !this.#sender.isOpen()) return;
    this.#nextPing = now + this.#parts.limits.ping_ms;
    if (this.#unansweredPings === 2) this.#ws.terminate();
    else this.#ws.ping();
    this.#unansweredPings += 1;
  }

  /** Handles a frame of the client. Calls that are started do not count: they have limits of their own. */
  receiveFrame(data: RawData, isBinary: boolean): void {
    if (!this.#sender.isOpen()) return;
    try {
      const answer = this.#read(data, isBinary);
      if (answer) this.#accept(answer);
    } catch (error) {
      this.#accept(() => this.#replyError(toDomainError(error)));
    }
  }

  receivePing(): void {
    if (this.#sender.isOpen()) this.#accept(() => undefined);
  }

  receivePong(): void {
    this.#unansweredPings = 0;
  }

  receiveClose(code: number): void {
    this.#stream.close();
    this.stopCalls();
    this.#parts.onClosed(this, code);
  }

  /** Returns how to answer the frame; undefined when a call was started, which answers by itself. */
  #read(data: RawData, isBinary: boolean): (() => void) | undefined {
    if (isBinary || !Buffer.isBuffer(data))
      throw new DomainError('VALIDATION_ERROR', 'Binary frames are not supported. Send text frames.');
    const value = readFrame(data);
    if (value.type !== 'call') {
      const frame = parseControlFrame(value);
      return () => this.#replyTo(frame);
    }
    const refusal = this.#startCall(value);
    return refusal === undefined ? undefined : () => this.#sender.reply(refusal);
  }

  /** Returns the text that refuses the call, if it is refused. */
  #startCall(frame: object): string | undefined {
    const { calls, limits } = this.#parts;
    this.#calls ??= createCalls(calls, {
      actor: this.#actor,
      sender: this.#sender,
      maxCalls: limits.calls,
    });
    if (this.#hasStoppedCalls) this.#calls.stop();
    return this.#calls.start(frame);
  }

  /** Counts a frame, and answers it. */
  #accept(answer: () => void): void {
    if (this.#isWithinBudget()) return answer();
    const message = `Too many frames: send at most ${this.#parts.limits.frames_per_second} per second.`;
    this.#replyError(new DomainError('RATE_LIMITED', message));
    this.end(closeCodes.policy, 'Too many frames.');
  }

  /** Counts a frame. Returns whether the current second had no more of them than the limit. */
  #isWithinBudget(): boolean {
    const now = steadyNow();
    if (now - this.#countedFrom >= 1_000) {
      this.#countedFrom = now;
      this.#frameCount = 0;
    }
    this.#frameCount += 1;
    return this.#frameCount <= this.#parts.limits.frames_per_second;
  }

  #replyTo(frame: ControlFrame): void {
    try {
      this.#handle(frame);
    } catch (error) {
      this.#replyError(toDomainError(error));
    }
  }

  /** @throws {DomainError} VALIDATION_ERROR when the connection has too many subscriptions */
  #handle(frame: ControlFrame): void {
    switch (frame.type) {
      case 'ping':
        this.#sender.reply(pong);
        break;
      case 'subscribe':
        this.#subscribe(frame.thread_id);
        break;
      case 'unsubscribe':
        this.#threadIds?.delete(frame.thread_id);
        break;
      case 'ack':
        this.#parts.realtime.acknowledge(this.#actor, frame.cursor).catch((thrown: unknown) => {
          const error = toDomainError(thrown);
          if (error.status >= 500)
            this.#parts.log('cannot store an acknowledged position', error.cause ?? error);
          this.#replyError(error);
        });
        break;
    }
  }

  #subscribe(threadId: string): void {
    const { subscriptions } = this.#parts.limits;
    this.#threadIds ??= new Set();
    if (this.#threadIds.size >= subscriptions && !this.#threadIds.has(threadId)) {
      throw new DomainError(
        'VALIDATION_ERROR',
        `thread_id: a connection can subscribe to at most ${subscriptions} threads`,
      );
    }
    this.#threadIds.add(threadId);
  }

  #replyError({ code, message }: DomainError): void {
    this.#sender.reply(frameText({ type: 'error', data: { code, message } }));
  }
}

function receiveMessage(this: ServedWebSocket, data: RawData, isBinary: boolean): void {
  this.connection?.receiveFrame(data, isBinary);
}

function receivePing(this: ServedWebSocket): void {
  this.connection?.receivePing();
}

function receivePong(this: ServedWebSocket): void {
  this.connection?.receivePong();
}

function receiveClose(this: ServedWebSocket, code: number): void {
  this.connection?.receiveClose(code);
}

/** An error of the client or the network: ws closes the connection with the right code by itself. */
function ignoreError(): void {}
