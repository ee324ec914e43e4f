import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { toDomainError } from '../http/errors.ts';
import type { LiveEvent, OpenStream, Realtime, StreamEnd, StreamReader } from '../../realtime/contract.ts';
import { envelopeText } from '../../realtime/envelope.ts';
import { type ClientFrame, parseClientFrame } from './client-frames.ts';
import { createFrameBudget } from './frame-budget.ts';
import { closeCodes, type WebSocketLimits } from './limits.ts';
import { createFrameSender } from './frame-sender.ts';
import { frameText } from './server-frames.ts';

export interface Connection extends Omit<StreamReader, 'transport'> {
  /** Sends the protocol ping that is due, or cuts a connection that left two unanswered. */
  pingIfDue(now: number): void;
  /** Says goodbye with a close code, behind everything that is sent already. */
  end(code: number, reason: string): void;
  /** Cuts it, whatever is still on its way. */
  terminate(): void;
}

export interface ConnectionParts {
  actor: Actor;
  stream: OpenStream;
  realtime: Pick<Realtime, 'acknowledge'>;
  limits: WebSocketLimits;
  log(message: string, error: unknown): void;
  /** Told when it is given up because its other side does not read. */
  onSlowReader(): void;
}

const closeReasons: Record<StreamEnd, readonly [code: number, reason: string]> = {
  token_ended: [closeCodes.policy, 'the access token has ended'],
  shutdown: [closeCodes.going_away, 'this server stops; connect again with your cursor'],
  overtaken: [closeCodes.slow_reader, 'too slow: events were removed; connect again with your cursor'],
  failed: [closeCodes.internal, 'the event log could not be read on; connect again with your cursor'],
};

const pong = frameText({ type: 'pong' });

/** Serves one open WebSocket: the ready frame at once, then the stream's events; and answers what the client sends. */
export function serveConnection(ws: WebSocket, socket: Duplex, parts: ConnectionParts): Connection {
  const { actor, stream, limits } = parts;
  const narrowed = new Set<string>();
  const inBudget = createFrameBudget(limits.frames_per_second);
  const outlet = createFrameSender(ws, socket, limits, () => {
    if (ws.readyState === ws.OPEN) parts.onSlowReader();
    end(closeCodes.slow_reader, 'too slow; connect again with your cursor');
  });
  let unanswered = 0;
  // Uneven, so that those who came together are not all pinged together.
  let nextPing = Date.now() + limits.ping_ms * (0.5 + Math.random() / 2);

  function end(code: number, reason: string): void {
    stream.close();
    ws.close(code, reason);
  }

  function wanted(event: LiveEvent): boolean {
    return narrowed.size === 0 || event.thread_id === null || narrowed.has(event.thread_id);
  }

  function complain(error: DomainError): void {
    const data = { code: error.code, message: error.message };
    outlet.reply(frameText({ type: 'error', data }));
  }

  /** A connection counts as flooding by its frames and protocol pings together. */
  function tolerated(): boolean {
    if (ws.readyState !== ws.OPEN) return false;
    if (inBudget()) return true;
    complain(new DomainError('RATE_LIMITED', `At most ${limits.frames_per_second} frames a second, please.`));
    end(closeCodes.policy, 'too many frames');
    return false;
  }

  function receive(data: RawData, isBinary: boolean): void {
    if (!tolerated()) return;
    try {
      if (isBinary || !Buffer.isBuffer(data))
        throw new DomainError('VALIDATION_ERROR', 'Frames must be text; this one was binary.');
      answer(parseClientFrame(data.toString()));
    } catch (error) {
      complain(toDomainError(error));
    }
  }

  function answer(frame: ClientFrame): void {
    switch (frame.type) {
      case 'ping':
        outlet.reply(pong);
        break;
      case 'subscribe':
        if (narrowed.size >= limits.subscriptions && !narrowed.has(frame.thread_id)) {
          throw new DomainError(
            'VALIDATION_ERROR',
            `thread_id: at most ${limits.subscriptions} threads for one connection`,
          );
        }
        narrowed.add(frame.thread_id);
        break;
      case 'unsubscribe':
        narrowed.delete(frame.thread_id);
        break;
      case 'ack':
        parts.realtime.acknowledge(actor, frame.cursor).catch((thrown: unknown) => {
          const error = toDomainError(thrown);
          if (error.status >= 500) parts.log('a position was not kept', error.cause ?? error);
          complain(error);
        });
        break;
    }
  }

  ws.on('message', receive);
  ws.on('ping', tolerated);
  ws.on('pong', () => {
    unanswered = 0;
  });
  ws.on('close', () => stream.close());

  const { cursor, resumed, gap } = stream;
  const data = { agent_id: actor.agent_id, cursor, resumed, gap };
  ws.send(frameText({ type: 'ready', data }));

  return {
    wants: wanted,
    deliver: (events) => outlet.send(events.map(envelopeText)),
    onEnded: (reason) => end(...closeReasons[reason]),
    end,
    terminate: () => ws.terminate(),
    pingIfDue(now) {
      if (now < nextPing || ws.readyState !== ws.OPEN) return;
      nextPing = now + limits.ping_ms;
      if (unanswered === 2) ws.terminate();
      else ws.ping();
      unanswered += 1;
    },
  };
}
