import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { combineCpuTimes, readCpuTime } from '../load/cpu-time.ts';
import { type HttpPool, newKey, openHttpPool } from '../load/http-client.ts';
import { compareCost, measureInTurn, round } from '../load/in-turn.ts';
import { perSecond, runLoad } from '../load/run-load.ts';
import { openSenders, waitForQueues } from '../load/senders.ts';
import { createMembers, createPairs, createThreads } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';

const instances = 8;
const leasesPerClaim = 10;
const sharedThreads = 200;
/** Messages that a thread gets in a row. In order of threads, all but the first of them wait for others. */
const bursts = [5, 100];
/** Messages to prepare for each second of the measurement: more than the instances can acknowledge. */
const messagesPerSecond = 5_000;

/**
 * How fast instances of one agent claim and acknowledge the messages of 200 threads, in order of threads; and what a send costs when its
 * recipient has an inbox, compared in turn with one that has none.
 */
export async function measureLeases(bench: Bench) {
  const { seconds, threads: count, in_flight } = bench.options.sending;
  const service = await startService(bench);
  const runs = [];
  for (const burst of bursts) runs.push(await measureInstances(bench, service, burst));
  const open = async (name: string, hasInbox: boolean) => {
    const threads = await createPairs(service.core, name.replaceAll(' ', '-'), count);
    const ids = threads.flatMap(({ members }) => members.map(({ id }) => id));
    if (hasInbox) for (const id of ids) await turnInboxOn(service, id);
    return (await openSenders(bench, service, threads)).meter(name, in_flight, { warmUp_s: 4 });
  };
  const meters = [await open('without an inbox', false), await open('with an inbox', true)];
  const options = { seconds: 3 * seconds, rounds: 3, lead_s: 2, log: bench.log };
  const sends = await measureInTurn(meters, options);
  return {
    instances,
    leases_per_claim: leasesPerClaim,
    runs,
    sends,
    cost_ratio: compareCost(sends[0], sends[1]),
  };
}

async function measureInstances(bench: Bench, service: Service, burst: number) {
  const { log, signal, onEnd, options } = bench;
  const { seconds } = options.sending;
  const [asker, shared] = await createMembers(service.core, `leases-${burst}`, 2);
  if (!asker || !shared) throw new Error('there are no agents');
  const groups = Array.from({ length: sharedThreads }, () => [asker, shared]);
  const threads = await createThreads(service.core, groups);
  await turnInboxOn(service, shared.id);
  const pool = openHttpPool(service.base);
  onEnd(pool.close);
  const total = Math.ceil((seconds * messagesPerSecond) / burst);
  log(`sending ${total * burst} messages, ${burst} of a thread in a row`);
  const messages = Array.from({ length: burst }, () => ({ content: 'x'.repeat(200) }));
  await runLoad({ calls: total, signal }, (number) => {
    const path = `/v1/threads/${threads[number % threads.length]?.id}/messages:batch`;
    return pool.request({ path, token: asker.token, headers: newKey(), body: { messages } });
  });
  await waitForQueues(service, signal);
  const seen = new Map<string, number>();
  const before = readCpuTime(service);
  const result = await runLoad({ lanes: instances, seconds, signal }, async () => {
    const ids = await handleClaim(pool, shared.token);
    for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1);
    return ids.length > 0;
  });
  await waitForQueues(service, signal);
  return {
    burst,
    acknowledged_per_s: Math.round(perSecond({ ...result, count: seen.size })),
    cpu_ms_per_lease: combineCpuTimes(readCpuTime(service), before, (now, then) =>
      round((now - then) / seen.size),
    ),
    not_leased_once: [...seen.values()].filter((count) => count !== 1).length,
  };
}

/** Turns the inbox of an agent on, from its first event on. */
async function turnInboxOn({ core }: Service, agent_id: string): Promise<void> {
  const limits = { lease_seconds: 60, max_attempts: 5 };
  await core.unitOfWork.write(system, (work) =>
    work.db.inboxes.save(
      { agent_id, types: ['message.created'], ...limits, ordered_by_thread: true, position: 0 },
      work.now,
    ),
  );
}

/** Claims, acknowledges all, and returns the ids of the events; none when nothing is left. */
async function handleClaim(pool: HttpPool, token: string): Promise<string[]> {
  const post = async (path: string, body: object) =>
    JSON.parse(await pool.request({ path, token, headers: newKey(), body })) as unknown;
  const claimed = await post('/v1/inbox/leases', { max: leasesPerClaim, wait_seconds: 1 });
  const { leases } = claimed as { leases: { id: string; event: { id: string } }[] };
  if (leases.length === 0) return [];
  const answer = await post('/v1/inbox/leases:acknowledge', { ids: leases.map(({ id }) => id) });
  const { results } = answer as { results: { result: string }[] };
  const lost = results.filter(({ result }) => result !== 'acknowledged').length;
  if (lost > 0) throw new Error(`${lost} of ${leases.length} leases were lost`);
  return leases.map(({ event }) => event.id);
}
