import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { followMessages, type MessageFollower } from '../../clients/message-follower.ts';
import { requestRest, type RestResponse } from '../../clients/rest.ts';
import {
  type Conversation,
  type ServiceCluster,
  startConversation,
  startTestCluster,
} from '../../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { type MessageLoad, startMessageLoad } from '../../support/cluster/message-load.ts';
import type { PatroniCluster, PatroniNode } from '../../support/servers/postgres/patroni.ts';
import type { Backend } from '../../support/service.ts';

/** How a primary ends, and how the server comes back as a standby. */
export interface Fault {
  name: string;
  inject(primary: PatroniNode, cluster: PatroniCluster): Promise<void>;
  repair(old: PatroniNode, cluster: PatroniCluster): Promise<void>;
}

/** Takeovers of each fault; five for the table in docs/operations.md. */
export const takeovers = Number(process.env['TAKEOVERS'] ?? 1);
const waitOptions = { timeout: 120_000, interval: 50 };
/** From the promotion until a message is acknowledged, in milliseconds. */
const maxUntilWriteMs = 15_000;
/** A response of any kind: the timeouts of a connection and of a statement, and a busy machine. */
const maxResponseMs = 30_000;

/** Two API processes and two workers on this PostgreSQL. */
export async function startServiceOn(patroni: PatroniCluster, backend: Backend) {
  const cluster = await startTestCluster(backend, { DATABASE_URL: patroni.url });
  const apis = [await cluster.startApi(), await cluster.startApi()] as const;
  await Promise.all([cluster.startWorker(), cluster.startWorker()]);
  return { cluster, urls: apis.map(({ url }) => url) as [string, string] };
}

/**
 * Sends continuously while the primary changes several times, and checks that nothing is lost, doubled or out of order, that all other
 * responses are 503 with Retry-After, and that all jobs are done. Prints a row of the table.
 */
export async function expectTakeovers(
  patroni: PatroniCluster,
  backend: Backend,
  fault: Fault,
): Promise<void> {
  const { cluster, urls } = await startServiceOn(patroni, backend);
  const talk = await startConversation(cluster.core, urls[0]);
  const followers = await Promise.all([
    followMessages(talk.members[1], () => [urls[0]]),
    followMessages(talk.members[2], () => [urls[1]]),
  ]);
  const reader = startReader(talk, urls);
  const load = startMessageLoad(talk, () => urls);
  const pauses: number[] = [];
  for (let count = 0; count < takeovers; count += 1) pauses.push(await runTakeover(patroni, fault, load));
  await load.waitForMore(100);
  await Promise.all([load.finish(), reader.stop()]);
  expectUnavailable(load, reader.errors);
  await expectFollowed(cluster, talk, followers, load);
  await expectExactlyOnce({ core: cluster.core, url: urls[0] }, talk, load.acknowledged);
  report([
    fault.name,
    takeovers,
    median(pauses),
    Math.max(...pauses) / 1_000,
    load.acknowledged.length,
    0,
    0,
    0,
  ]);
}

/** Changes the primary once. Returns the longest time without an acknowledged message, in milliseconds. */
export async function runTakeover(patroni: PatroniCluster, fault: Fault, load: MessageLoad): Promise<number> {
  await load.waitForMore(100);
  const old = await patroni.primary();
  const standby = patroni.other(old);
  const since = Date.now();
  await fault.inject(old, patroni);
  await vi.waitFor(async () => {
    const { rows } = await standby.query('select pg_is_in_recovery() as standby');
    if (rows[0].standby) throw new Error(`${standby.name} was not promoted`);
  }, waitOptions);
  const promoted = Date.now();
  await load.waitForMore(100);
  const times = load.acknowledged.map(({ at }) => at).filter((at) => at >= since);
  expect((times.find((at) => at >= promoted) ?? Infinity) - promoted).toBeLessThan(maxUntilWriteMs);
  await fault.repair(old, patroni);
  await patroni.waitUntilWhole();
  return Math.max(...times.map((at, index) => at - (times[index - 1] ?? since)));
}

/** Reads lists and events until it is stopped. A page never begins before the cursor of the last one. */
function startReader({ thread_id, members }: Conversation, urls: readonly string[]) {
  const [, { token, start }] = members;
  const errors: RestResponse[] = [];
  const over = new AbortController();
  async function read(): Promise<void> {
    let cursor = start;
    for (let count = 0; !over.signal.aborted; count += 1) {
      const url = `${urls[count % urls.length]}/v1`;
      const pages = [
        `/threads/${thread_id}/messages`,
        `/events?limit=100&cursor=${encodeURIComponent(cursor)}`,
      ];
      for (const path of pages) {
        const answer = await requestRest('GET', `${url}${path}`, { token });
        if (answer.status !== 200) errors.push(answer);
        else if (answer.body.cursor) {
          expect(answer.body).not.toHaveProperty('gap');
          cursor = answer.body.cursor;
        }
      }
      await pause(50);
    }
  }
  const reading = read();
  reading.catch(() => 'stop says so');
  onTestFinished(() => over.abort());
  return {
    errors,
    async stop() {
      over.abort();
      await reading;
    },
  };
}

/** Every request was answered in time, with success or as a client expects it of a service without its database. */
export function expectUnavailable(load: MessageLoad, more: readonly RestResponse[] = []): void {
  const others = [...load.errors, ...more].flatMap(({ status, headers, body, text }) => {
    const isExpected = status === 503 && body?.error?.code === 'UNAVAILABLE' && headers.has('retry-after');
    return isExpected ? [] : [`${status} ${text}`];
  });
  expect({ unanswered: load.unanswered(), others }).toEqual({ unanswered: 0, others: [] });
  expect(load.longestMs()).toBeLessThan(maxResponseMs);
}

/** Every follower received each message once, in order, and its cursor never moved back. */
async function expectFollowed(
  { core }: ServiceCluster,
  { members }: Conversation,
  followers: readonly MessageFollower[],
  load: MessageLoad,
): Promise<void> {
  const sent = load.acknowledged.toSorted((a, b) => a.sequence - b.sequence).map(({ id }) => id);
  for (const [index, follower] of followers.entries()) {
    await follower.waitUntil(sent.length);
    expect(follower.messages()).toEqual(sent);
    expect(follower.repeated()).toBe(0);
    const agentId = members[index + 1]?.id ?? '';
    const numbers = follower
      .events()
      .map(({ cursor = '' }) => core.settings.cursors.decodeFeed(agentId, cursor));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

export function median(values: readonly number[]): number {
  return (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0) / 1_000;
}

/** Prints a row of the table: fault, takeovers, seconds without writes (median, maximum), acknowledged, lost, doubled, reordered. */
export function report(cells: readonly (string | number)[]): void {
  const texts = cells.map((cell) => (typeof cell === 'number' ? String(Math.round(cell * 10) / 10) : cell));
  process.stderr.write(`\n| ${texts.join(' | ')} |\n`);
}
