import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { compose, type Core } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { newId } from '../packages/core/src/domain/ids.ts';
import { costOfSending } from './cost.ts';
import { compareInTurn, type CostComparison, type CostMeter, formatComparison } from './cost-comparison.ts';
import { type CpuTime, cpuTimePerMessage, readCpuTime } from './cpu-time.ts';
import type { Environment } from './environment.ts';
import { buildPostRequest, openKeepAliveConnection } from './http-client.ts';
import { createMember, createThreads, type Member } from './population.ts';

export interface LeasesOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

export interface LeasesMeasurement {
  instances: number;
  leases_per_claim: number;
  /** One for each size of bursts. */
  runs: LeasesRun[];
  /** Sends to agents without and with an inbox. */
  sends: CostComparison;
}

interface LeasesRun {
  /** Messages that a thread gets in a row. In order of threads, all but the first of them wait for others. */
  burst: number;
  acknowledged_per_s: number;
  /** CPU milliseconds per acknowledged lease; null where the system does not report it. */
  cpu_ms_per_lease: CpuTime | null;
  /** Messages that were not leased exactly once. */
  wrong: number;
}

const instances = 8;
const leasesPerClaim = 10;
const sharedThreads = 200;

const bursts = [5, 100] as const;

/** Messages to prepare for each second of the measurement: more than the instances can acknowledge. */
const messagesPerSecond = 5_000;

/**
 * Measures how fast instances of one agent claim and acknowledge the messages of 200 threads, in order of threads; and what a send costs when
 * its recipient has an inbox, compared in turn with one that has none.
 */
export async function measureLeases(
  environment: Environment,
  options: LeasesOptions,
): Promise<LeasesMeasurement> {
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    const runs: LeasesRun[] = [];
    for (const burst of bursts) runs.push(await measureInstances(environment, core, { ...options, burst }));
    const sends = await compareSends(environment, core, options);
    return { instances, leases_per_claim: leasesPerClaim, runs, sends };
  } finally {
    await core.close();
  }
}

async function measureInstances(
  environment: Environment,
  core: Core,
  { seconds, burst, log, signal }: LeasesOptions & { burst: number },
): Promise<LeasesRun> {
  const { base } = environment;
  const { asker, shared, threads } = await createSharedAgent(core, `leases-${burst}`);
  await turnInboxOn(core, shared.id);
  const total = Math.ceil((seconds * messagesPerSecond) / burst) * burst;
  log(`sending ${total} messages, ${burst} of a thread in a row`);
  await sendQuestions(base, asker, { threads, total, burst });
  const seen = new Map<string, number>();
  const before = readCpuTime(environment);
  const start = performance.now();
  const end = start + seconds * 1_000;
  await Promise.all(
    Array.from({ length: instances }, async () => {
      const instance = openInstance(base, shared);
      try {
        while (performance.now() < end && !signal.aborted) {
          const ids = await instance.handleClaim();
          for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1);
          if (ids.length === 0) return;
        }
      } finally {
        instance.close();
      }
    }),
  );
  signal.throwIfAborted();
  const lastedSeconds = (performance.now() - start) / 1_000;
  return {
    burst,
    acknowledged_per_s: Math.round(seen.size / lastedSeconds),
    cpu_ms_per_lease: cpuTimePerMessage(before, readCpuTime(environment), seen.size),
    wrong: [...seen.values()].filter((count) => count !== 1).length,
  };
}

function createSharedAgent(
  core: Core,
  owner: string,
): Promise<{ asker: Member; shared: Member; threads: string[] }> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const asker = await createMember(core, work, `${owner}-asker.agent`);
    const shared = await createMember(core, work, `${owner}-shared.agent`);
    const threads: string[] = [];
    while (threads.length < sharedThreads) {
      const id = newId('thread');
      const member_ids = [asker.id, shared.id];
      const thread = { id, subject: null, created_by: asker.id, metadata: {}, created_at: work.now };
      await work.threads.insert({ ...thread, member_ids });
      threads.push(id);
    }
    return { asker, shared, threads };
  });
}

/** Turns the inbox of an agent on, from its first event on. */
async function turnInboxOn(core: Core, agent_id: string): Promise<void> {
  await core.unitOfWork.writeAsSystem((work) => {
    const settings = {
      types: ['message.created'],
      lease_seconds: 60,
      max_attempts: 5,
      ordered_by_thread: true,
    };
    return work.inboxes.save({ agent_id, ...settings, position: 0 }, work.now);
  });
}

async function sendQuestions(
  base: string,
  { token }: Member,
  { threads, total, burst }: { threads: readonly string[]; total: number; burst: number },
) {
  const connection = openKeepAliveConnection(base);
  const messages = Array.from({ length: burst }, () => ({ content: 'x'.repeat(200) }));
  try {
    for (let sent = 0; sent < total; sent += burst) {
      const path = `/v1/threads/${threads[(sent / burst) % threads.length]}/messages:batch`;
      const request = buildPostRequest({ base, path, token, key: randomUUID(), body: { messages } });
      const { status, body } = await connection.send(request);
      if (status !== 200) throw new Error(`a batch of messages: ${status} ${body.slice(0, 300)}`);
    }
  } finally {
    connection.close();
  }
}

/** An instance on one connection. */
function openInstance(base: string, { token }: Member) {
  const connection = openKeepAliveConnection(base);
  async function post(path: string, body: object): Promise<string> {
    const request = buildPostRequest({ base, path, token, key: randomUUID(), body });
    const answer = await connection.send(request);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
    return answer.body;
  }
  return {
    close: () => connection.close(),
    /** Claims, acknowledges all, and returns the ids of the events; none when nothing is left. */
    async handleClaim(): Promise<string[]> {
      const text = await post('/v1/inbox/leases', { max: leasesPerClaim, wait_seconds: 1 });
      const { leases } = JSON.parse(text) as { leases: { id: string; event: { id: string } }[] };
      if (leases.length === 0) return [];
      const answer = await post('/v1/inbox/leases:acknowledge', { ids: leases.map(({ id }) => id) });
      const { results } = JSON.parse(answer) as { results: { result: string }[] };
      const lost = results.filter(({ result }) => result !== 'acknowledged').length;
      if (lost > 0) throw new Error(`${lost} of ${leases.length} leases were lost`);
      return leases.map(({ event }) => event.id);
    },
  };
}

async function compareSends(
  environment: Environment,
  core: Core,
  { seconds, threads: count, in_flight, log, signal, fail }: LeasesOptions,
): Promise<CostComparison> {
  const openMeter = async (owner: string, hasInbox: boolean): Promise<CostMeter> => {
    const threads = await createThreads(core, owner, count);
    if (hasInbox) {
      for (const { members } of threads) await Promise.all(members.map(({ id }) => turnInboxOn(core, id)));
    }
    const load = { bases: [environment.base], threads, in_flight, signal, fail };
    return {
      measure: (duration) => costOfSending(environment, core, { ...load, seconds: duration }),
      close: () => Promise.resolve(),
    };
  };
  const meters = [await openMeter('without', false), await openMeter('with', true)] as const;
  return compareInTurn(meters, { seconds, log });
}

/** Formats the figures as text. */
export function formatLeases(measured: LeasesMeasurement): string {
  const { runs, sends } = measured;
  const what = `leases acknowledged, ${measured.instances} instances, ${measured.leases_per_claim} for each claim`;
  const rows = runs.map(({ burst, acknowledged_per_s, cpu_ms_per_lease, wrong }) => {
    const parts = Object.entries(cpu_ms_per_lease ?? {}).map(([part, ms]) => `${part} ${ms}`);
    return `${what}, ${burst} of a thread in a row: ${acknowledged_per_s}/s, not leased exactly once: ${wrong}, CPU ms for each: ${parts.join(', ') || 'not available'}`;
  });
  return [...rows, formatComparison(sends, ['without an inbox', 'with an inbox'])].join('\n');
}
