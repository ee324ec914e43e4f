import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type KeepAliveConnection, openKeepAliveConnection, buildMessageRequest } from '../http-client.ts';
import { keepInFlight, type Rate } from '../in-flight.ts';
import type { Member, Thread } from '../population.ts';
import { buildNumberedContent, type Receivers } from './receivers.ts';

export interface Senders {
  /** POSTs with so many in flight, for some seconds. */
  sendAtFullSpeed(lanes: number, seconds: number): Promise<Rate>;
  /** POSTs at a steady rate, whatever the answers take. Answers the milliseconds from each POST to the other member's frame. */
  sendAtRate(per_second: number, seconds: number): Promise<number[]>;
  /** Numbers of the messages that the service acknowledged, each with its thread. */
  acknowledged: ReadonlyMap<number, Thread>;
  close(): void;
}

const defaultConnections = 64;
/** How much longer than planned the steady sends may take before the service counts as too slow for their rate. */
const timeoutMs = 30_000;

/** Numbers of messages, one after the other. */
export type NextNumber = () => number;

export function createCounter(): NextNumber {
  let next = 0;
  return () => next++;
}

export interface SenderOptions {
  /** Several generators of the same threads share their numbers: together they send what one of them would. */
  nextNumber?: NextNumber;
  /** Returns the text of a message after its number. */
  nextText?(): string | undefined;
  /** Which members of a thread send; both by default, in turn. */
  who?: 'both' | 'first';
}

/** The load generator: POST …/messages by all agents in turn, over kept connections. */
export function openSenders(
  base: string,
  threads: readonly Thread[],
  receivers: Receivers,
  signal: AbortSignal,
  { nextNumber = createCounter(), nextText = () => undefined, who = 'both' }: SenderOptions = {},
): Senders {
  const connections = Array.from({ length: defaultConnections }, () => openKeepAliveConnection(base));
  const acknowledged = new Map<number, Thread>();

  function pickSender(number: number): { thread: Thread; sender: Member } {
    const thread = threads[number % threads.length];
    if (!thread) throw new Error('there are no threads');
    const isSecond = who === 'both' && Math.floor(number / threads.length) % 2 === 1;
    return { thread, sender: thread.members[isSecond ? 1 : 0] };
  }

  async function send(connection: KeepAliveConnection, number: number): Promise<void> {
    const { thread, sender } = pickSender(number);
    const content = buildNumberedContent(number, nextText());
    const text = buildMessageRequest({
      base,
      thread_id: thread.id,
      token: sender.token,
      key: randomUUID(),
      content,
    });
    const { status, body } = await connection.send(text);
    if (status !== 201) throw new Error(`POST answered ${status}: ${body.slice(0, 300)}`);
    acknowledged.set(number, thread);
  }

  return {
    acknowledged,
    async sendAtFullSpeed(lanes, seconds) {
      while (connections.length < lanes) connections.push(openKeepAliveConnection(base));
      const free = connections.slice(0, lanes);
      return keepInFlight(lanes, seconds, signal, async () => {
        const connection = free.pop();
        if (!connection) throw new Error('more calls than lanes');
        await send(connection, nextNumber());
        free.push(connection);
      });
    },
    async sendAtRate(per_second, seconds) {
      const started = new Map<number, number>();
      const delays: number[] = [];
      receivers.onFrame((member, number, at) => {
        const start = started.get(number);
        if (start !== undefined && pickSender(number).sender !== member) delays.push(at - start);
      });
      await sendSteadily({ connections, per_second, seconds, signal }, (connection) => {
        const number = nextNumber();
        started.set(number, performance.now());
        return send(connection, number);
      });
      await pause(500);
      return delays;
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

interface SteadyRate {
  connections: readonly KeepAliveConnection[];
  per_second: number;
  seconds: number;
  signal: AbortSignal;
}

/**
 * Starts sends at a steady rate, each on a free connection, and waits for all.
 * @throws the first failure, which stops further sends.
 */
async function sendSteadily(
  { connections, per_second, seconds, signal }: SteadyRate,
  send: (connection: KeepAliveConnection) => Promise<void>,
): Promise<void> {
  const free = connections.toReversed();
  const running: Promise<void>[] = [];
  let failure: unknown;
  const sendAndFree = async (connection: KeepAliveConnection) => {
    try {
      await send(connection);
      free.push(connection);
    } catch (error) {
      failure ??= error;
    }
  };
  const begin = performance.now();
  const total = Math.round(per_second * seconds);
  const latest = begin + seconds * 1000 + timeoutMs;
  for (let sent = 0; sent < total && !signal.aborted && failure === undefined;) {
    if (performance.now() > latest) {
      failure = new Error(`only ${sent} of ${total} messages were sent at ${per_second}/s`);
    }
    const due = Math.min(total, Math.floor(((performance.now() - begin) / 1000) * per_second) + 1);
    for (; sent < due; sent += 1) {
      const connection = free.pop();
      if (!connection) break; // every connection waits for its response; the rest is sent when one is free
      running.push(sendAndFree(connection));
    }
    await pause(1);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
  signal.throwIfAborted();
}
