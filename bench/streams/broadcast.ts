import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../../src/shared/wait-until.ts';
import { keepInFlight } from '../in-flight.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { buildNumberedContent } from '../messages/receivers.ts';
import { type LightSocket, openLightSocket } from './light-socket.ts';

/** The sockets of one server, on which every message arrives that is sent to it. */
export interface Broadcast {
  /** Sends with so many under way, for some seconds; frames a second until the last one has arrived. */
  sendAtFullSpeed(lanes: number, seconds: number): Promise<{ frames_per_s: number; messages: number }>;
  /** Sends at a steady rate, whatever the answers take; milliseconds from each sending to each socket. */
  sendAtRate(per_second: number, seconds: number): Promise<Percentiles>;
  /** Of all messages sent: frames that never came, and those that came again. */
  count(): { lost: number; duplicated: number };
  /** Of the last frame. */
  frameBytes(): number;
  contentBytes(): number;
  close(): void;
}

export interface BroadcastOptions {
  base: string;
  path: string;
  /** Of each member. */
  tokens: readonly string[];
  /** Sends a message; resolves when it is answered. */
  send(number: number, content: string, sender: Sender): Promise<void>;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** The socket of a member whose turn it is. */
export interface Sender {
  /** Sends a frame and waits until it comes back. */
  sendAndConfirm(number: number, frame: string): Promise<void>;
}

const numberMarker = Buffer.from('"content":"#');
const digits = 9;
const timeoutMs = 30_000;

/** The number of the message in a frame; null for other frames. */
function readNumber(frame: Buffer): number | null {
  const start = frame.indexOf(numberMarker);
  if (start < 0) return null;
  const at = start + numberMarker.length;
  return Number(frame.toString('latin1', at, at + digits));
}

interface SteadyRate extends Pick<BroadcastOptions, 'signal' | 'fail'> {
  per_second: number;
  seconds: number;
}

/** Starts calls at a steady rate without waiting for earlier ones, then waits for all. */
async function callAtRate(
  { per_second, seconds, signal, fail }: SteadyRate,
  call: () => Promise<void>,
): Promise<void> {
  const running: Promise<void>[] = [];
  const begin = performance.now();
  for (let started = 0; started < per_second * seconds; started += 1) {
    const due = begin + (started * 1000) / per_second;
    if (due > performance.now()) await pause(due - performance.now(), undefined, { signal });
    const calling = call();
    calling.catch(fail);
    running.push(calling);
  }
  await Promise.all(running);
}

/** Opens a socket for every token. */
export async function openBroadcast(options: BroadcastOptions): Promise<Broadcast> {
  const { base, path, tokens, signal, fail } = options;
  /** How often each message has arrived, over all sockets. */
  const arrived = new Map<number, number>();
  const back = new Map<number, () => void>();
  const started = new Map<number, number>();
  let delays: number[] | undefined;
  let frames = 0;
  let doubled = 0;
  let bytes = 0;
  let next = 0;

  function take(seen: Set<number>, frame: Buffer): void {
    const number = readNumber(frame);
    if (number === null) return;
    if (seen.has(number)) doubled += 1;
    seen.add(number);
    frames += 1;
    bytes = frame.length;
    const count = (arrived.get(number) ?? 0) + 1;
    arrived.set(number, count);
    delays?.push(performance.now() - (started.get(number) ?? Number.NaN));
    if (count === tokens.length) back.get(number)?.();
  }
  const sockets: LightSocket[] = await Promise.all(
    tokens.map((token) => {
      const seen = new Set<number>();
      return openLightSocket({ base, path, token, onFrame: (frame) => take(seen, frame), onLost: fail });
    }),
  );

  async function send(): Promise<void> {
    const number = next++;
    const socket = sockets[number % sockets.length];
    started.set(number, performance.now());
    await options.send(number, buildNumberedContent(number), {
      sendAndConfirm: (named, frame) =>
        new Promise((resolve) => {
          back.set(named, resolve);
          socket?.send(frame);
        }),
    });
  }
  async function allArrived(): Promise<void> {
    const whole = () => frames - doubled >= next * tokens.length;
    await waitUntil(whole, { timeoutMs, intervalMs: 2, signal });
  }

  return {
    async sendAtFullSpeed(lanes, seconds) {
      const begin = performance.now();
      const before = frames;
      const { count } = await keepInFlight(lanes, seconds, signal, send);
      await allArrived();
      const taken = (performance.now() - begin) / 1000;
      return { frames_per_s: Math.round((frames - before) / taken), messages: count };
    },
    async sendAtRate(per_second, seconds) {
      delays = [];
      await callAtRate({ per_second, seconds, signal, fail }, send);
      await allArrived();
      const all = delays;
      delays = undefined;
      return percentiles(all);
    },
    count: () => ({ lost: Math.max(0, next * tokens.length - (frames - doubled)), duplicated: doubled }),
    frameBytes: () => bytes,
    contentBytes: () => buildNumberedContent(0).length + '{"content":""}'.length,
    close() {
      for (const socket of sockets) socket.close();
    },
  };
}
