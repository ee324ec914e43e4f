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
  /** How many events old the cursors are. */
  events: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

export interface ReconnectRound {
  /** Milliseconds from the first connection on until every client had every event. */
  whole_ms: number;
  /** The same for each client. */
  client_ms: Percentiles;
  /** CPU time of each part for each event (Linux). */
  cpu_ms_per_event: CpuTime | null;
}

export interface ReconnectMeasurement {
  clients: number;
  events: number;
  /** Events received in their order, of clients × events; the measurement fails when one is missing. */
  received: number;
  rounds: ReconnectRound[];
}

const rounds = 3;
/** Of these many messages before the cursor nothing may be seen again. */
const skippedEvents = 10;
const timeoutMs = 60_000;
const pauseMs = 2_000;

/**
 * How long it takes until everybody is whole again, when all clients come back at once. Every two of them share their events
 * and no more than two: that is as little as can be shared of an event. @throws when an event is missing, doubled or out of place.
 */
export async function measureReconnect(
  stage: Environment,
  options: ReconnectOptions,
): Promise<ReconnectMeasurement> {
  const { clients, events, log, signal } = options;
  const config = loadConfig({ ...stage.env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  const onError = () => undefined;
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: 1, onError });
  try {
    const threads = await createThreads(core, 'reconnect', Math.ceil(clients / 2));
    await fillFeeds(database, threads, skippedEvents + events);
    const crowd = threads.flatMap(({ members }) => members).slice(0, clients);
    const cursors = crowd.map(({ id }) => core.cursors.encodeFeed(id, skippedEvents));
    const measured: ReconnectRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const before = readCpuTime(stage);
      const times = await reconnectAll(stage.base, crowd, cursors, options);
      const cpu_ms_per_event = cpuTimePerMessage(before, readCpuTime(stage), clients * events);
      const done = { ...times, cpu_ms_per_event };
      log(`round ${round}: all ${clients} whole after ${done.whole_ms} ms`);
      measured.push(done);
      await pause(pauseMs, undefined, { signal });
    }
    return { clients, events, received: clients * events, rounds: measured };
  } finally {
    const closed = Promise.all([database.close(), core.close()]);
    await withTimeout('its own connections to close', timeoutMs, closed).catch((error: unknown) =>
      log(toOneLine(error)),
    );
  }
}

async function reconnectAll(
  base: string,
  crowd: readonly Member[],
  cursors: readonly string[],
  { events, signal }: ReconnectOptions,
): Promise<Omit<ReconnectRound, 'cpu_ms_per_event'>> {
  const begin = performance.now();
  const sockets: LightSocket[] = [];
  const clients = crowd.map(({ token, handle }, index) => {
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
    const all = await withTimeout('the clients to be whole', timeoutMs, Promise.all(clients), signal);
    return { whole_ms: Math.round(performance.now() - begin), client_ms: percentiles(all) };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/** The figures for people. */
export function formatReconnect({ clients, events, received, rounds: all }: ReconnectMeasurement): string {
  return [
    `${clients} clients come back at once, ${events} events behind: ${received} events, each once and in order`,
    ...all.map(
      ({ whole_ms, client_ms: { p50, p99 }, cpu_ms_per_event: cpu }, index) =>
        `round ${index + 1}  all whole after ${whole_ms} ms; one client p50 ${p50}, p99 ${p99} ms; CPU ms for each event ` +
        (cpu ? `API ${cpu.api}, PostgreSQL ${cpu.postgres}, generator ${cpu.generator}` : 'not told here'),
    ),
    '',
  ].join('\n');
}
