import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Violation } from '../../chaos/check/violation.ts';
import { runChaos } from '../../chaos/run.ts';
import { maxSequence } from '../../packages/core/src/domain/threads.ts';
import { acknowledgeMessageOperation } from '../../src/operations/inbox/acknowledge-message.ts';
import { claimMessagesOperation } from '../../src/operations/inbox/claim-messages.ts';
import { sendMessageOperation } from '../../src/operations/messages/send-message.ts';
import { sendMessage } from '../../src/services/messages/send.ts';
import { readA2aUpdatesOperation } from '../../src/operations/a2a/read-updates.ts';
import { sendA2aMessageOperation } from '../../src/operations/a2a/send-message.ts';
import { updateTaskOperation } from '../../src/operations/tasks/update-task.ts';
import { markReadOperation } from '../../src/operations/messages/mark-read.ts';
import { override } from '../support/override.ts';
import { startWebSocketProxy } from '../support/servers/websocket-proxy.ts';
import { startService } from '../support/service.ts';
import { stopAfterTest } from '../support/use.ts';

type Options = NonNullable<Parameters<typeof startService>[0]>;
type Run = typeof markReadOperation.run;
type Work = Parameters<Run>[0];
type Input = Parameters<Run>[1];

async function countMessages(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*)::int as count from messages');
  return rows[0]?.count ?? 0;
}

/** A change of the service: how it is built, its WebSocket frames, or what it does with its own database. */
interface Plant {
  overrides?: Options['overrides'];
  changeFrame?: (frame: string) => string;
  prepare?: (database: pg.Pool) => void;
}

/** Runs the load of `npm run chaos` on a service, without faults of its processes, and returns the violations. */
async function runLoad(
  { overrides = {}, changeFrame = (frame) => frame, prepare = () => undefined }: Plant = {},
  minMessages = 80,
): Promise<Violation[]> {
  const service = stopAfterTest(await startService({ env: { WEBHOOK_NETWORKS: '127.0.0.0/8' }, overrides }));
  const proxy = stopAfterTest(await startWebSocketProxy(service.url, changeFrame));
  const { env } = service;
  const postgres = { url: env['DATABASE_URL'] ?? '' };
  const database = stopAfterTest(new pg.Pool({ connectionString: postgres.url, max: 2 }));
  prepare(database);
  const { violations } = await runChaos(
    { base: proxy.url, env, postgres },
    {
      async injectFaults() {
        const isEnough = async () => (await countMessages(database)) >= minMessages;
        await expect.poll(isEnough, { timeout: 120_000, interval: 100 }).toBe(true);
        return [];
      },
      seed: 18,
      size: { agents: 5, threads: 4 },
      signal: new AbortController().signal,
      log: () => undefined,
      complaints: [],
      // With a fault, the marks are never complete.
      recoveryTimeoutMs: 30_000,
    },
  );
  return violations;
}

/** Replaces what `mark_read` runs. */
function plantInMarkRead(
  plant: (run: (work: Work, input: Input) => ReturnType<Run>, work: Work, input: Input) => ReturnType<Run>,
): void {
  const { run } = markReadOperation;
  const spy = vi
    .spyOn(markReadOperation, 'run')
    .mockImplementation((work, input, file, allowance) =>
      plant((changedWork, changedInput) => run(changedWork, changedInput, file, allowance), work, input),
    );
  onTestFinished(() => spy.mockRestore());
}

/** Enough messages for many leases that are not acknowledged in time. */
const messagesOfLeases = 400;

/** Changes the work of every claim before it runs. */
function plantInClaims(change: (work: Work) => Work | Promise<Work>): void {
  const { run, batch: rule } = claimMessagesOperation;
  if (!rule) throw new Error('claims are batched');
  const { run: runBatch } = rule;
  const single = vi
    .spyOn(claimMessagesOperation, 'run')
    .mockImplementation(async (work, input, file, allowance) =>
      run(await change(work), input, file, allowance),
    );
  const batch = vi.spyOn(rule, 'run').mockImplementation(async (calls, options) => {
    const changed = calls.map(async (call) => ({ ...call, work: await change(call.work) }));
    return runBatch(await Promise.all(changed), options);
  });
  onTestFinished(() => {
    single.mockRestore();
    batch.mockRestore();
  });
}

const violation = (kind: Violation['kind'], detail: RegExp) =>
  expect.objectContaining({ kind, detail: expect.stringMatching(detail) as string });

test('the load finds nothing without a planted fault', async () => {
  expect(await runLoad()).toEqual([]);
});

test('the chaos run finds a mark_read that marks everything', async () => {
  plantInMarkRead((run, work, input) => run(work, { ...input, up_to_sequence: maxSequence }));
  expect(await runLoad()).toContainEqual(violation('wrong receipt', /message.read .* without a request/));
});

test('the chaos run finds missing message.read events', async () => {
  plantInMarkRead((run, work, input) =>
    run({ ...work, changes: { ...work.changes, emit: () => undefined } }, input),
  );
  // Handled messages count as read: only a mark beyond them has an event to miss, and a short load can be without one.
  expect(await runLoad({}, 240)).toContainEqual(violation('wrong receipt', /marked .* as read up to/));
});

test('the chaos run finds missing delivered marks', async () => {
  expect(await runLoad({ overrides: { hasReceipts: false } })).toContainEqual(
    violation('wrong receipt', /delivered mark of .*; it received/),
  );
});

test('the chaos run finds changed content and senders in one WebSocket frame of five', async () => {
  let frames = 0;
  const violations = await runLoad({
    changeFrame(frame) {
      if (!frame.startsWith('{"type":"message.created"') || (frames += 1) % 5 > 0) return frame;
      const event = JSON.parse(frame) as { data: { content: string; sender: object } };
      const sender = { ...event.data.sender, canonical_handle: 'other.agent' };
      return JSON.stringify({ ...event, data: { ...event.data, sender, content: 'other' } });
    },
  });
  expect(violations).toContainEqual(violation('changed', /at WebSocket of .* differs from the feed/));
  expect(new Set(violations.map(({ kind }) => kind))).toEqual(new Set(['changed']));
});

test('the chaos run finds expired leases that end 2.5 s early', async () => {
  const expireEarly = `update inbox_items set expires_at = lease_clock()
    where agent_id = $1 and state = 'leased' and expires_at <= lease_clock() + 2500`;
  const prepare = (database: pg.Pool) =>
    plantInClaims(async (work) => {
      await database.query(expireEarly, [work.actor.agent_id]);
      return work;
    });
  expect(await runLoad({ prepare }, messagesOfLeases)).toContainEqual(
    violation('lease ended early', /lease \d+ .*: \d+ ms too early/),
  );
});

test('the chaos run finds two holders of an ordered thread', async () => {
  plantInClaims((work) => {
    const {
      db: { inboxClaims },
    } = work;
    const claim: typeof inboxClaims.claim = (agent, options) =>
      inboxClaims.claim(agent, { ...options, ordered: false });
    return { ...work, db: override(work.db, { inboxClaims: { ...inboxClaims, claim } }) };
  });
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(violation('two holders', /of thd_\w+: lease/));
});

test('the chaos run finds changes of tasks without their events', async () => {
  const { run } = updateTaskOperation;
  const spy = vi
    .spyOn(updateTaskOperation, 'run')
    .mockImplementation((work, input, file, allowance) =>
      run({ ...work, changes: { ...work.changes, emit: () => undefined } }, input, file, allowance),
    );
  onTestFinished(() => spy.mockRestore());
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(
    violation('wrong task', /tsk_\w+: the feed of agt_\w+ has other changes/),
  );
});

test('the chaos run finds updates that streams of A2A leave out', async () => {
  const { run } = readA2aUpdatesOperation;
  let pages = 0;
  const spy = vi
    .spyOn(readA2aUpdatesOperation, 'run')
    .mockImplementation(async (work, input, file, allowance) => {
      const page = await run(work, input, file, allowance);
      return page.updates.length > 1 && (pages += 1) % 2 > 0
        ? { ...page, updates: page.updates.slice(1) }
        : page;
    });
  onTestFinished(() => spy.mockRestore());
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(
    violation('hole', /update \d+ .* over A2A of tsk_\w+ follows \d+/),
  );
});

test('the chaos run finds a repeated message of A2A that opens another task', async () => {
  const { run } = sendA2aMessageOperation;
  const spy = vi
    .spyOn(sendA2aMessageOperation, 'run')
    .mockImplementation((work, input, file, allowance) =>
      run(work, { ...input, message_id: randomUUID() }, file, allowance),
    );
  onTestFinished(() => spy.mockRestore());
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(
    violation('doubled', /task call \S+ has \d+ answers/),
  );
});

test('the chaos run finds replies that are written twice', async () => {
  const { run } = acknowledgeMessageOperation;
  const spy = vi
    .spyOn(acknowledgeMessageOperation, 'run')
    .mockImplementation(async (work, input, file, allowance) => {
      const output = await run(work, input, file, allowance);
      if (output.message) {
        const { thread_id, content, content_type, reply_to, metadata } = output.message;
        await sendMessage(work, { thread_id, content, content_type, reply_to, metadata, attachment_ids: [] });
      }
      return output;
    });
  onTestFinished(() => spy.mockRestore());
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(violation('doubled', /the reply to msg_/));
});

test('the chaos run finds lost leases that may still write', async () => {
  const { run } = sendMessageOperation;
  const spy = vi
    .spyOn(sendMessageOperation, 'run')
    .mockImplementation((work, { lease_id: _unchecked, ...input }, file, allowance) =>
      run(work, input, file, allowance),
    );
  onTestFinished(() => spy.mockRestore());
  expect(await runLoad({}, messagesOfLeases)).toContainEqual(
    violation('lost lease wrote', /send .* of lease \d+ .*: it expired \d+ ms before/),
  );
});
