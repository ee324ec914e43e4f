import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Violation } from '../../chaos/check/violation.ts';
import { runChaos } from '../../chaos/run.ts';
import { maxSequence } from '../../src/domain/threads.ts';
import { markReadOperation } from '../../src/operations/messages/mark-read.ts';
import { override } from '../support/override.ts';
import { startWebSocketProxy } from '../support/servers/websocket-proxy.ts';
import { startService } from '../support/service.ts';

type Options = NonNullable<Parameters<typeof startService>[0]>;
type Run = typeof markReadOperation.run;
type Work = Parameters<Run>[0];
type Input = Parameters<Run>[1];

async function countMessages(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from messages');
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

/** Runs the load of `npm run chaos` on a service, without faults of its processes, and returns the violations. */
async function runLoad(
  overrides: Options['overrides'] = {},
  changeFrame: (frame: string) => string = (frame) => frame,
): Promise<Violation[]> {
  const service = await startService({ env: { WEBHOOK_NETWORKS: '127.0.0.0/8' }, overrides });
  onTestFinished(async () => void (await service.stop()));
  const proxy = await startWebSocketProxy(service.url, changeFrame);
  onTestFinished(() => proxy.close());
  const { env } = service;
  const postgres = { url: env['DATABASE_URL'] ?? '' };
  const { violations } = await runChaos(
    { base: proxy.url, env, postgres },
    {
      async injectFaults() {
        const isEnough = async () => (await countMessages(postgres.url)) >= 80;
        await expect.poll(isEnough, { timeout: 60_000, interval: 100 }).toBe(true);
        return [];
      },
      seed: 18,
      size: { agents: 5, threads: 4 },
      signal: new AbortController().signal,
      log: () => undefined,
      complaints: [],
      // With a fault, the marks are never complete.
      recoveryTimeoutMs: 15_000,
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
  plantInMarkRead((run, work, input) => run(override(work, { emit: () => undefined }), input));
  expect(await runLoad()).toContainEqual(violation('wrong receipt', /marked .* as read up to/));
});

test('the chaos run finds missing delivered marks', async () => {
  expect(await runLoad({ hasReceipts: false })).toContainEqual(
    violation('wrong receipt', /delivered mark of .*; it received/),
  );
});

test('the chaos run finds changed content and senders in one WebSocket frame of five', async () => {
  let frames = 0;
  const violations = await runLoad({}, (frame) => {
    if (!frame.startsWith('{"type":"message.created"') || (frames += 1) % 5 > 0) return frame;
    const event = JSON.parse(frame) as { data: { content: string; sender: object } };
    const sender = { ...event.data.sender, canonical_handle: 'other.agent' };
    return JSON.stringify({ ...event, data: { ...event.data, sender, content: 'other' } });
  });
  expect(violations).toContainEqual(violation('changed', /at WebSocket of .* differs from the feed/));
  expect(new Set(violations.map(({ kind }) => kind))).toEqual(new Set(['changed']));
});
