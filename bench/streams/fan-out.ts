import { randomUUID } from 'node:crypto';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { type KeepAliveConnection, openKeepAliveConnection, buildMessageRequest } from '../http-client.ts';
import type { Percentiles } from '../percentiles.ts';
import { type CpuTime, cpuTimePerMessage, readCpuTime } from '../cpu-time.ts';
import type { Environment } from '../environment.ts';
import { startBareServer } from './bare-process.ts';
import { type Broadcast, openBroadcast } from './broadcast.ts';
import { createMembers, createThread } from './agents.ts';

export interface FanOutOptions {
  /** Members of the thread, each with a socket. */
  members: number;
  /** Messages per second. */
  rate: number;
  /** Duration of each measurement at that rate; those at full speed take half of it in each round. */
  seconds: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

export interface FanOutMeasurement {
  members: number;
  rate: number;
  /** From the start of a POST to the frame on each socket. */
  delivery_ms: Percentiles;
  /** From sending a frame to the bare server to that frame on each socket. */
  bare_delivery_ms: Percentiles;
  frames_per_s: number;
  bare_frames_per_s: number;
  frames_ratio: number;
  frame_bytes: number;
  lost: number;
  duplicated: number;
  /** At full speed. */
  cpu_ms_per_message: CpuTime | null;
}

const rounds = 2;
/** Messages in flight at full speed: POSTs without a response, or frames that the bare server has not returned. */
const inFlight = 16;
const warmUpSeconds = 3;

/** Measures delivery in a thread with many connected members; see docs/performance.md. */
export async function measureFanOut(
  environment: Environment,
  options: FanOutOptions,
): Promise<FanOutMeasurement> {
  const { members, rate, seconds, log, signal, fail } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const connections: KeepAliveConnection[] = [];
  const bare = await startBareServer({ signal, fail });
  const open: Broadcast[] = [];
  try {
    const agents = await createMembers(core, 'fan-out', members);
    const thread_id = await createThread(core, agents);
    const { base } = environment;
    const tokens = agents.map(({ token }) => token);

    const service = await openBroadcast({
      base,
      path: '/ws',
      tokens,
      signal,
      fail,
      async send(number, content) {
        const connection = connections.pop() ?? openKeepAliveConnection(base);
        const token = tokens[number % tokens.length] ?? '';
        const request = buildMessageRequest({ base, thread_id, token, key: randomUUID(), content });
        const { status, body } = await connection.send(request);
        if (status !== 201) throw new Error(`POST answered ${status}: ${body.slice(0, 300)}`);
        connections.push(connection);
      },
    });
    open.push(service);
    await service.sendAtFullSpeed(inFlight, warmUpSeconds);
    const frame_bytes = service.frameBytes();
    const filling = '.'.repeat(Math.max(0, frame_bytes - service.contentBytes()));
    const plain = await openBroadcast({
      base: bare.base,
      path: '/',
      tokens,
      signal,
      fail,
      send: (number, content, socket) => socket.sendAndConfirm(number, `{"content":"${content}${filling}"}`),
    });
    open.push(plain);
    await plain.sendAtFullSpeed(inFlight, warmUpSeconds / 3);

    log(`delivery at ${rate} messages/s`);
    const delivery_ms = await service.sendAtRate(rate, seconds);
    const bare_delivery_ms = await plain.sendAtRate(rate, seconds / 2);
    const full: number[] = [];
    const bareFull: number[] = [];
    let cpu: CpuTime | null = null;
    for (let round = 1; round <= rounds; round += 1) {
      const before = readCpuTime(environment);
      const run = await service.sendAtFullSpeed(inFlight, seconds / rounds);
      cpu = cpuTimePerMessage(before, readCpuTime(environment), run.messages);
      full.push(run.frames_per_s);
      bareFull.push((await plain.sendAtFullSpeed(inFlight, seconds / rounds / 2)).frames_per_s);
      log(`round ${round}: ${full.at(-1)} frames/s, the bare server ${bareFull.at(-1)}`);
    }
    const frames_per_s = mean(full);
    const bare_frames_per_s = mean(bareFull);
    const frames_ratio = Math.round((frames_per_s / bare_frames_per_s) * 1000) / 1000;
    const { lost, duplicated } = service.count();
    const steady = { members, rate, delivery_ms, bare_delivery_ms };
    const fullSpeed = { frames_per_s, bare_frames_per_s, frames_ratio, frame_bytes, cpu_ms_per_message: cpu };
    return { ...steady, ...fullSpeed, lost, duplicated };
  } finally {
    for (const broadcast of open) broadcast.close();
    for (const connection of connections) connection.close();
    await bare.stop();
    await core.close();
  }
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((total, value) => total + value, 0) / values.length);
}

/** Formats the figures as text. */
export function formatFanOut(measured: FanOutMeasurement): string {
  const { members, rate, frames_per_s, bare_frames_per_s, cpu_ms_per_message } = measured;
  const times = ({ p50, p95, p99 }: Percentiles) => `p50 ${p50}, p95 ${p95}, p99 ${p99} ms`;
  const parts = Object.entries(cpu_ms_per_message ?? {}).map(([part, ms]) => `${part} ${ms}`);
  return [
    `a thread of ${members} connected members`,
    `POST to each socket at ${rate}/s         ${times(measured.delivery_ms)}`,
    `a bare ws server, the same           ${times(measured.bare_delivery_ms)}`,
    `frames/s at full speed               ${frames_per_s}`,
    `a bare ws server, the same           ${bare_frames_per_s}`,
    `ratio                                ${measured.frames_ratio}`,
    `lost, duplicated                     ${measured.lost}, ${measured.duplicated}`,
    `bytes in a frame                     ${measured.frame_bytes}`,
    `CPU ms for each message, full speed  ${parts.join(', ') || 'not available'}`,
    '',
  ].join('\n');
}
