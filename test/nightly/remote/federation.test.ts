import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { createRemoteInvitation } from '../../../src/services/remote/invitations.ts';
import { readAllEvents } from '../../clients/feed.ts';
import type { TestAgent } from '../../support/service.ts';
import { compareReceipts, countLevels, readAlmostAll, readRows, type View } from './receipts.ts';
import { type Side, startSide, type Stored } from './side.ts';

/** Questions, answers and notes of both sides together. `FEDERATION_MESSAGES=10000 FEDERATION_THREADS=100` is the run of the specification. */
const total = Number(process.env['FEDERATION_MESSAGES'] ?? 600);
const threads = Number(process.env['FEDERATION_THREADS'] ?? 12);
/** Without limits by default. `FEDERATION_LIMITS=` (empty): those of an installation. */
const limits = process.env['FEDERATION_LIMITS'] ?? 'off';
const agentsOfSide = Math.max(2, Math.ceil(threads / 5));
const rounds = Math.ceil(total / threads / 4);

vi.setConfig({ testTimeout: 600_000 + total * 600 });

const hourMs = 3_600_000;

/** One conversation, as each side knows it. */
interface Pair {
  here: { agent: TestAgent; thread_id: string };
  there: { agent: TestAgent; thread_id: string };
}

async function connect(here: Side, there: Side, ann: TestAgent, bob: TestAgent): Promise<Pair> {
  const { address } = await there.cluster.core.unitOfWork.write(system, (work) =>
    createRemoteInvitation(work, bob.id, null),
  );
  const handle = `peer-${randomUUID().slice(0, 8)}`;
  const redeem = { invitation: address, agent: ann.handle, handle };
  const added = await here.request('POST', '/remote-agents', { by: ann, body: redeem });
  expect(added.status, added.text).toBe(201);
  const { id, canonical_handle } = added.body;
  const state = async () => (await here.request('GET', `/remote-agents/${id}`, { by: ann })).body.state;
  await expect.poll(state).toBe('ready');
  // The other side reads the card of Ann meanwhile, and refuses her until then.
  const { remoteAgents } = there.cluster.core.db;
  const waiting = async () => {
    const bound = await remoteAgents.listBound(bob.id);
    const states = await Promise.all(bound.map((each) => remoteAgents.isReady(each.id)));
    return states.filter((isReady) => !isReady).length;
  };
  await expect.poll(waiting).toBe(0);
  const opened = await here.request('POST', '/threads', {
    by: ann,
    body: { with_handle: canonical_handle },
  });
  const thread_id = String(opened.body.id);
  await here.send(ann, thread_id, 'first', { metadata: { no_reply_expected: true } });
  let other = '';
  const find = async () => {
    for (const each of (await there.request('GET', '/threads?limit=100', { by: bob })).body.threads) {
      const [message] = await there.messages(bob, each.id);
      if (message?.content === 'first' && !taken.has(each.id)) other = each.id;
    }
    return other;
  };
  await expect.poll(find).not.toBe('');
  taken.add(other);
  return { here: { agent: ann, thread_id }, there: { agent: bob, thread_id: other } };
}

/** Threads that belong to a pair. */
const taken = new Set<string>();

/** Kills a process of one of the sides again and again, until it is stopped. Each one starts again. */
function startKilling(sides: readonly Side[]): () => Promise<number> {
  const end = new AbortController();
  let kills = 0;
  async function run(): Promise<void> {
    while (!end.signal.aborted) {
      await pause(500 + Math.random() * 1_500, undefined, { signal: end.signal }).catch(() => undefined);
      const side = sides[Math.floor(Math.random() * sides.length)];
      const part = Math.random() < 0.5 ? 'api' : 'worker';
      if (end.signal.aborted || !side) return;
      await side.kill(part);
      kills += 1;
      await side.start(part);
    }
  }
  const done = run();
  return async () => {
    end.abort();
    await done;
    return kills;
  };
}

/** The texts that are missing or doubled. Each is that of one message. */
function compare(sent: readonly string[], stored: readonly Stored[]) {
  const texts = stored.map(({ content }) => content);
  return {
    lost: sent.filter((text) => !texts.includes(text)),
    doubled: texts.filter((text, at) => texts.indexOf(text) !== at),
  };
}

const textsOf = (stored: readonly Stored[], kind: string): string[] =>
  stored.map(({ content }) => content).filter((content) => content.startsWith(kind));

test('between two installations nothing is lost, doubled or reordered, whatever is killed, cut off or away', async () => {
  const [here, there] = [await startSide(limits), await startSide(limits)];
  for (const side of [here, there]) await Promise.all([side.start('api'), side.start('worker')]);
  const [ours, theirs] = [await here.agents(agentsOfSide), await there.agents(agentsOfSide)];
  const pairs: Pair[] = [];
  for (let at = 0; at < threads; at += 1) {
    const [ann, bob] = [ours[at % agentsOfSide], theirs[(at + Math.floor(at / agentsOfSide)) % agentsOfSide]];
    if (ann && bob) pairs.push(await connect(here, there, ann, bob));
  }

  /** In each round both sides write a note, one asks, and the other one answers what it has seen. */
  async function talk({ here: a, there: b }: Pair, from: number, to: number): Promise<void> {
    const note = { metadata: { no_reply_expected: true } };
    for (let round = from; round < to; round += 1) {
      await here.send(a.agent, a.thread_id, `note-a ${round}`, note);
      await there.send(b.agent, b.thread_id, `note-b ${round}`, note);
      await here.send(a.agent, a.thread_id, `ask ${round}`);
    }
  }
  async function answer({ there: b }: Pair): Promise<boolean> {
    const stored = await there.messages(b.agent, b.thread_id);
    const answered = new Set(textsOf(stored, 're: '));
    for (const { id, content } of stored)
      if (content.startsWith('ask ') && !answered.has(`re: ${content}`))
        await there.send(b.agent, b.thread_id, `re: ${content}`, { reply_to: id });
    return textsOf(await there.messages(b.agent, b.thread_id), 're: ').length === questions;
  }
  let questions = 0;

  // The worst of it: faulty lines in both directions, and a kill every two seconds.
  for (const side of [here, there]) side.setLine('faulty');
  const stopKilling = startKilling([here, there]);
  await Promise.all(pairs.map((pair) => talk(pair, 0, rounds)));
  const kills = await stopKilling();
  for (const side of [here, there]) side.setLine('pass');
  questions = rounds;

  // Attempts that were put off are due in a moved clock.
  async function settle(shiftMs: number): Promise<void> {
    await Promise.all([here.moveClock(shiftMs), there.moveClock(shiftMs)]);
    const isOver = async () => {
      const over = await Promise.all(pairs.map(answer));
      return over.filter((each) => !each).length;
    };
    await expect.poll(isOver, { timeout: 60_000 + total * 100, interval: 1_000 }).toBe(0);
  }
  await settle(hourMs);

  // One side is away for a day; the other one writes.
  await Promise.all([there.kill('api'), there.kill('worker')]);
  for (const { here: a } of pairs) await here.send(a.agent, a.thread_id, `ask ${rounds}`);
  questions += 1;
  for (const hours of [8, 16]) {
    await here.moveClock((1 + hours) * hourMs);
    await pause(3_000);
  }
  await there.start('api');
  await settle(26 * hourMs);

  const expected = ['first'];
  for (let round = 0; round < rounds; round += 1)
    expected.push(`note-a ${round}`, `ask ${round}`, `note-b ${round}`, `re: ask ${round}`);
  expected.push(`ask ${rounds}`, `re: ask ${rounds}`);
  for (const { here: a, there: b } of pairs) {
    const atHere = () => here.messages(a.agent, a.thread_id);
    const atThere = () => there.messages(b.agent, b.thread_id);
    await expect
      .poll(async () => compare(expected, await atHere()).lost, { timeout: 300_000, interval: 500 })
      .toEqual([]);
    const both = [await atHere(), await atThere()];
    for (const stored of both) {
      expect(compare(expected, stored)).toEqual({ lost: [], doubled: [] });
      for (const kind of [/^(?:note-a|ask)/, /^(?:note-b|re:)/]) {
        const order = (all: readonly Stored[] | undefined) =>
          (all ?? []).map(({ content }) => content).filter((text) => kind.test(text));
        expect(order(stored)).toEqual(order(kind.test('ask') ? both[0] : both[1]));
      }
    }
  }
  // No sender was told of a failure.
  for (const [{ cluster }, agents] of [
    [here, ours],
    [there, theirs],
  ] as const)
    for (const agent of agents) {
      const events = await readAllEvents(cluster.core, agent);
      expect(events.filter(({ type }) => type === 'message.undeliverable')).toEqual([]);
    }

  // Receipts are true on both sides.
  const views = pairs.map(({ here: a, there: b }): [View, View] => [
    { side: here, ...a },
    { side: there, ...b },
  ]);
  for (const view of views.flat()) await readAlmostAll(view);
  await Promise.all([here.moveClock(60 * hourMs), there.moveClock(60 * hourMs)]);
  const counts: Record<string, number> = {};
  for (const [a, b] of views)
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const differences = () => compareReceipts(from, to);
      await expect
        .poll(differences, { timeout: 300_000, interval: 500 })
        .toEqual({ claimed: [], untold: [], open: [] })
        .catch(async (error: unknown) => {
          process.stderr.write(`${new Date().toISOString()} the sender:\n${await readRows(from)}\n`);
          process.stderr.write(`the other side:\n${await readRows(to)}\n`);
          throw error;
        });
      for (const [level, count] of Object.entries(await countLevels(from)))
        counts[level] = (counts[level] ?? 0) + count;
    }
  process.stdout.write(
    `federation: ${pairs.length * expected.length} messages in ${pairs.length} threads, ${kills} kills, limits ${limits}, receipts ${JSON.stringify(counts)}\n`,
  );
  expect(kills).toBeGreaterThan(0);
});
