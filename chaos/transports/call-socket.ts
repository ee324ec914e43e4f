import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { type Caller, defaultTimeoutMs, type Outcome, readErrorBody } from '../load/call.ts';
import type { Agent } from '../load/population.ts';

const frame = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  status: z.int().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
});

const handshakeTimeoutMs = 3_000;

/** Calls operations over a WebSocket, which connects again with the next call after it was lost. */
export interface CallSocket {
  call: Caller;
  /** Cuts the connection, as a killed client does. */
  cut(): void;
}

export function createCallSocket(base: string, agent: Agent): CallSocket {
  let socket: WebSocket | undefined;
  let count = 0;
  const waiting = new Map<string, { via: WebSocket; end: (outcome: Outcome) => void }>();

  function onMessage(bytes: Buffer): void {
    const { type, id = '', status = 0, output, error } = frame.parse(JSON.parse(bytes.toString()));
    if (type !== 'result') return; // an event
    waiting.get(id)?.end(error === undefined ? { answer: output } : readErrorBody(status, { error }));
  }

  function connect(): WebSocket {
    const url = `${base.replace(/^http/, 'ws')}/ws?cursor=latest`;
    const headers = { Authorization: `Bearer ${agent.tokens.api}` };
    const opened = new WebSocket(url, { headers, handshakeTimeout: handshakeTimeoutMs });
    opened.setMaxListeners(0); // every call that waits for it adds listeners
    opened.on('message', onMessage);
    opened.on('error', () => opened.terminate()); // `close` follows
    opened.on('close', () => {
      for (const { via, end } of waiting.values()) if (via === opened) end({ doubt: 'connection lost' });
    });
    return opened;
  }

  /** The current connection, or a new one. Undefined if it is refused or lost. */
  async function open(): Promise<WebSocket | undefined> {
    if (!socket || socket.readyState > WebSocket.OPEN) socket = connect();
    const current = socket;
    if (isOpen(current)) return current;
    await Promise.race([once(current, 'open'), once(current, 'close')]).catch(() => undefined);
    return isOpen(current) ? current : undefined;
  }

  return {
    async call(operation, input, { key, timeoutMs = defaultTimeoutMs, signal } = {}) {
      const via = await open();
      if (!via) return { doubt: 'connection lost' };
      const id = String((count += 1));
      return new Promise((resolve) => {
        const end = (outcome: Outcome) => {
          waiting.delete(id);
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          resolve(outcome);
        };
        // A new connection may reach another process.
        const giveUp = () => {
          via.terminate();
          end({ doubt: 'no answer in time' });
        };
        const timer = setTimeout(giveUp, timeoutMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.set(id, { via, end });
        via.send(JSON.stringify({ type: 'call', id, operation, input, idempotency_key: key }));
      });
    },
    cut: () => socket?.terminate(),
  };
}

const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN;
