import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { checkReceived } from '../support/asyncapi/check-received.ts';

const frame = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  cursor: z.string().optional(),
  created_at: z.int().optional(),
  data: z.looseObject({}).optional(),
});
const readyFrame = z.strictObject({
  type: z.literal('ready'),
  data: z.strictObject({
    agent_id: z.string(),
    cursor: z.string(),
    resumed: z.boolean(),
    gap: z.boolean(),
    pending_events: z.int().min(0).max(100).default(0),
    pending_events_more: z.literal(true).optional(),
  }),
});

export type Frame = z.infer<typeof frame>;

export interface WsOptions {
  /** Whether the service is of another release, so that the AsyncAPI document of this one does not describe it. */
  otherRelease?: boolean;
  token?: string;
  cursor?: string;
  ticket?: string;
  protocols?: string[];
  headers?: Record<string, string>;
  /** Another path than /ws. */
  path?: string;
}

export interface WsClient {
  ready: z.infer<typeof readyFrame>['data'];
  /** Every frame after `ready`, in order. */
  frames: readonly Frame[];
  /** Those that are events. */
  events(): Frame[];
  /** The next frame that fits, among those that no earlier `next` has passed. Rejects when the connection closes before. */
  next(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Resolves when `fits` is true of the client. */
  waitUntil(fits: () => boolean): Promise<void>;
  /** Sends a value as JSON, or a text or bytes as they are. */
  send(value: object | string | Buffer): void;
  /** Sends bytes as a text frame, well-formed or not. */
  sendText(bytes: Buffer): void;
  ping(): void;
  /** Pauses and resumes reading from the network. */
  pause(): void;
  resume(): void;
  /** Says goodbye, and waits for the end. */
  close(): Promise<void>;
  /** Cuts the connection without a word. */
  disconnect(): void;
  closed: Promise<{ code: number; reason: string }>;
  protocol: string;
}

/** How long anything may take before a test gives up, in milliseconds. */
const timeoutMs = 60_000;

function openSocket(address: string, options: WsOptions): WebSocket {
  const url = new URL(options.path ?? '/ws', address.replace(/^http/, 'ws'));
  if (options.cursor !== undefined) url.searchParams.set('cursor', options.cursor);
  if (options.ticket !== undefined) url.searchParams.set('ticket', options.ticket);
  const authorization = options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` };
  return new WebSocket(url, options.protocols ?? [], { headers: { ...authorization, ...options.headers } });
}

/**
 * Connects and waits for the ready frame. `address` is that of the service, http or ws. A frame that is not as the service's own
 * AsyncAPI document describes it ends the connection, and everything that is asked of the client from then on throws.
 */
export async function connectWebSocket(address: string, options: WsOptions = {}): Promise<WsClient> {
  const ws = openSocket(address, options);
  const frames: Frame[] = [];
  let wrong: Error | undefined;
  const watchers = new Set<() => void>();
  let passed = 0;
  let over = false;
  let fault: Error | undefined;

  const tellAll = () => {
    for (const watcher of watchers) watcher();
  };
  ws.on('message', (data, isBinary) => {
    if (wrong) return;
    try {
      if (!Buffer.isBuffer(data) || isBinary) throw new Error('the service sent something else than text');
      const value: unknown = JSON.parse(data.toString());
      if (!options.otherRelease) checkReceived('websocket', value);
      frames.push(frame.parse(value));
    } catch (error) {
      wrong = error instanceof Error ? error : new Error(String(error));
      ws.terminate();
    }
    tellAll();
  });
  ws.on('error', (error) => {
    fault = error;
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => {
      over = true;
      resolve({ code, reason: reason.toString() });
      tellAll();
    });
  });

  function waitUntil(fits: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => finish(new Error('waited too long for the service')), timeoutMs);
      const look = () => {
        if (wrong) finish(wrong);
        else if (fits()) finish();
        else if (over) finish(new Error('the connection closed before', { cause: fault }));
      };
      function finish(error?: Error): void {
        clearTimeout(timer);
        watchers.delete(look);
        if (error) reject(error);
        else resolve();
      }
      watchers.add(look);
      look();
    });
  }

  function received(): Frame[] {
    if (wrong) throw wrong;
    return frames;
  }

  await waitUntil(() => frames.length > 0);
  const ready = readyFrame.parse(frames.shift()).data;

  return {
    ready,
    get frames() {
      return received();
    },
    events: () => received().filter(({ id }) => id !== undefined),
    async next(fits) {
      let found: Frame | undefined;
      await waitUntil(() => {
        while (!found && passed < frames.length) {
          const candidate = frames[passed];
          passed += 1;
          if (candidate && fits(candidate)) found = candidate;
        }
        return found !== undefined;
      });
      if (!found) throw new Error('no frame');
      return found;
    },
    waitUntil,
    send: (value) =>
      ws.send(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value)),
    sendText: (bytes) => ws.send(bytes, { binary: false }),
    ping: () => ws.ping(),
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    async close() {
      ws.close();
      await closed;
      received();
    },
    disconnect: () => ws.terminate(),
    closed,
    protocol: ws.protocol,
  };
}

export interface Refusal {
  status: number;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** Connects where the service should refuse to, and answers how it did. */
export async function refused(address: string, options: WsOptions = {}): Promise<Refusal> {
  const ws = openSocket(address, options);
  ws.on('error', () => undefined);
  const answered = once(ws, 'unexpected-response');
  const opened = once(ws, 'open').then(() => {
    throw new Error('the service did not refuse');
  });
  const [, response] = await Promise.race([answered, opened]);
  const { statusCode, headers } = response;
  const body: unknown = JSON.parse(await text(response));
  return { status: statusCode, headers, body };
}
