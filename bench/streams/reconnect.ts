import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { type CpuTime, cpuTimePerMessage, readCpuTime } from '../cpu-time.ts';
import { percentiles, type Percentiles } from '../percentiles.ts';
import { createThreads, type Member } from '../population.ts';
import type { Environment } from '../environment.ts';
import { withTimeout } from '../with-timeout.ts';
import { fillFeeds, readFrameNumber } from './backlog.ts';
import { type LightSocket, openLightSocket } from './light-socket.ts';

export interface ReconnectOptions {
  clients: number;
  /** Number of events after each cursor. */
  events: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

export interface ReconnectRound {
  /** Milliseconds from the first connection until every client had every event. */
  whole_ms: number;
  /** The same per client. */
  client_ms: Percentiles;
  /** CPU milliseconds of each part per event (Linux). */
  cpu_ms_per_event: CpuTime | null;
}

export interface ReconnectMeasurement {
  clients: number;
  events: number;
  /** Events received in order: clients × events; the measurement fails when one is missing. */
  received: number;
  rounds: ReconnectRound[];
}

const rounds = 3;
/** Number of messages before the cursor, which must not be received again. */
const skippedEvents = 10;
const timeoutMs = 60_000;
const pauseMs = 2_000;

/**
 * Measures how long it takes until every client has every event when all clients reconnect simultaneously. Only two clients share
 * an event, which is the minimum. @throws when an event is missing, duplicated or out of order.
 */
export async function measureReconnect(
  environment: Environment,
  options: ReconnectOptions,
): Promise<ReconnectMeasurement> {
  const { clients, events, log, signal } = options;
  const config = loadConfig({ ...environment.env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  const onError = () => undefined;
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: 1, onError });
  try {
    const threads = await createThreads(core, 'reconnect', Math.ceil(clients / 2));
    await fillFeeds(database, threads, skippedEvents + events);
    const agents = threads.flatMap(({ members }) => members).slice(0, clients);
    const cursors = agents.map(({ id }) => core.cursors.encodeFeed(id, skippedEvents));
    const measured: ReconnectRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const before = readCpuTime(environment);
      const times = await reconnectAll(environment.base, agents, cursors, options);
      const cpu_ms_per_event = cpuTimePerMessage(before, readCpuTime(environment), clients * events);
      const result = { ...times, cpu_ms_per_event };
      log(`round ${round}: all ${clients} complete after ${result.whole_ms} ms`);
      measured.push(result);
      await pause(pauseMs, undefined, { signal });
    }
    return { clients, events, received: clients * events, rounds: measured };
  } finally {
    const closed = Promise.all([database.close(), core.close()]);
    await withTimeout('the connections of the benchmark to close', timeoutMs, closed).catch(
      (error: unknown) => log(toOneLine(error)),
    );
  }
}

async function reconnectAll(
  base: string,
  agents: readonly Member[],
  cursors: readonly string[],
  { events, signal }: ReconnectOptions,
): Promise<Omit<ReconnectRound, 'cpu_ms_per_event'>> {
  const begin = performance.now();
  const sockets: LightSocket[] = [];
  const clients = agents.map(({ token, handle }, index) => {
    let next = skippedEvents + 1;
    return new Promise<number>((resolve, reject) => {
      const opening = openLightSocket({
        base,
        path: `/ws?cursor=${cursors[index] ?? ''}`,
        token,
        onLost: reject,
        onFrame(frame) {
          const number = readFrameNumber(frame);
          if (number === undefined) return; // ready
          if (number !== next) reject(new Error(`${handle} got event ${number} instead of ${next}`));
          next += 1;
          if (next > skippedEvents + events) resolve(performance.now() - begin);
        },
      });
      opening.then((socket) => sockets.push(socket), reject);
    });
  });
  try {
    const all = await withTimeout(
      'the clients to receive every event',
      timeoutMs,
      Promise.all(clients),
      signal,
    );
    return { whole_ms: Math.round(performance.now() - begin), client_ms: percentiles(all) };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/** Formats the figures as text. */
export function formatReconnect({ clients, events, received, rounds: all }: ReconnectMeasurement): string {
  return [
    `${clients} clients reconnect, each ${events} events late: ${received} events, each once and in order`,
    ...all.map(
      ({ whole_ms, client_ms: { p50, p99 }, cpu_ms_per_event: cpu }, index) =>
        `round ${index + 1}  all complete after ${whole_ms} ms; one client p50 ${p50}, p99 ${p99} ms; CPU ms per event ` +
        (cpu ? `API ${cpu.api}, PostgreSQL ${cpu.postgres}, generator ${cpu.generator}` : 'not available'),
    ),
    '',
  ].join('\n');
}
