import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { combineCpuTimes, readCpuTime } from '../load/cpu-time.ts';
import { round } from '../load/in-turn.ts';
import { newKey, openHttpPool } from '../load/http-client.ts';
import { type LightSocket, openLightSocket } from '../load/light-socket.ts';
import { type Percentiles, percentiles } from '../load/percentiles.ts';
import { mapConcurrently } from '../load/run-load.ts';
import { waitForQueues } from '../load/senders.ts';
import { buildNumberedContent, readNumber } from '../load/tally.ts';
import { createPairs, type Thread } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';
import { withTimeout } from '../start/with-timeout.ts';

interface Client {
  token: string;
  handle: string;
  cursor: string;
}

const rounds = 3;
/** Number of messages before the cursor, which must not be received again. */
const skippedEvents = 10;
const timeoutMs = 60_000;
const pauseMs = 2_000;
/** Messages of one request. */
const maxBatch = 100;
const senders = 8;

/**
 * Measures how long it takes until every client has every event when all clients reconnect simultaneously. Only two clients share
 * an event, which is the minimum. @throws when an event is missing, duplicated or out of order.
 */
export async function measureReconnect(bench: Bench) {
  const { log, signal, options } = bench;
  const { clients: count, events } = options.streams;
  const service = await startService(bench);
  const { core } = service;
  const threads = await createPairs(core, 'reconnect', Math.ceil(count / 2));
  await sendBacklog(bench, service, threads, skippedEvents + events);
  const agents = threads.flatMap(({ members }) => members).slice(0, count);
  const clients = agents.map((agent) => ({
    ...agent,
    cursor: core.settings.cursors.encodeFeed(agent.id, skippedEvents),
  }));
  const measured = [];
  for (let number = 1; number <= rounds; number += 1) {
    const before = readCpuTime(service);
    const times = await reconnectAll(service.base, clients, events, signal);
    const cpu_ms_per_event = combineCpuTimes(readCpuTime(service), before, (now, then) =>
      round((now - then) / (count * events)),
    );
    log(`round ${number}: all ${count} complete after ${times.whole_ms} ms`);
    measured.push({ ...times, cpu_ms_per_event });
    await pause(pauseMs, undefined, { signal });
  }
  return { clients: count, events, received: count * events, rounds: measured };
}

/** Sends so many messages in each thread, which its members do not read yet. */
async function sendBacklog(
  { signal }: Bench,
  service: Service,
  threads: readonly Thread[],
  count: number,
): Promise<void> {
  const pool = openHttpPool(service.base);
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  await mapConcurrently(threads, senders, signal, async ({ id, members }) => {
    for (let at = 0; at < count; at += maxBatch) {
      const messages = numbers
        .slice(at, at + maxBatch)
        .map((number) => ({ content: buildNumberedContent(number) }));
      const path = `/v1/threads/${id}/messages:batch`;
      await pool.request({ path, token: members[0]?.token ?? '', headers: newKey(), body: { messages } });
    }
  });
  pool.close();
  await waitForQueues(service, signal);
}

/** Returns the milliseconds from the first connection until every client had every event, and those of each client. */
async function reconnectAll(
  base: string,
  clients: readonly Client[],
  events: number,
  signal: AbortSignal,
): Promise<{ whole_ms: number; client_ms: Percentiles }> {
  const begin = performance.now();
  const sockets: LightSocket[] = [];
  const complete = clients.map(({ token, handle, cursor }) => {
    let next = skippedEvents + 1;
    return new Promise<number>((resolve, reject) => {
      const opening = openLightSocket({
        base,
        path: `/ws?cursor=${cursor}`,
        token,
        onLost: reject,
        onFrame(frame) {
          const number = readNumber(frame);
          if (number === null) return; // ready
          if (number !== next) reject(new Error(`${handle} got event ${number} instead of ${next}`));
          next += 1;
          if (next > skippedEvents + events) resolve(performance.now() - begin);
        },
      });
      opening.then((socket) => sockets.push(socket), reject);
    });
  });
  try {
    const all = Promise.all(complete);
    const client_ms = percentiles(await withTimeout('every event', timeoutMs, all, signal));
    return { whole_ms: Math.round(performance.now() - begin), client_ms };
  } finally {
    for (const socket of sockets) socket.close();
  }
}
