import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { QueuedJob } from '../../../src/jobs/define.ts';
import type { ErrorLog } from '../../../src/shared/error-log.ts';
import { JobPutBack, type JobQueues } from '../../../src/platform/queues/job-queues.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { stopAfterTest, use } from '../../support/use.ts';

export interface QueueBackend {
  kind: 'redis' | 'postgres';
  url: string;
  /** `namespace` separates tests that share one server. */
  open(options: { url: string; namespace: string; log: ErrorLog }): JobQueues;
  stop(): Promise<void>;
}

/** How long a condition may take to become true, and how often to check. */
export const waitOptions = { timeout: 15_000, interval: 10 };

/** A job with the fields that matter to a test. */
export function buildJob(id: string, changes: Partial<QueuedJob> = {}): QueuedJob {
  const payload = { v: 1, event_id: id };
  return { queue: 'delivery', name: 'deliver_event', id, payload, attempts: 3, backoff_ms: 20, ...changes };
}

/** What job queues guarantee on every backend. */
export function testQueueContract(start: () => Promise<QueueBackend>): void {
  const backend = use(() => start());

  let opened = 0;

  async function open(url = backend.url): Promise<{ queues: JobQueues; namespace: string; log: ErrorLog }> {
    opened += 1;
    const namespace = `test_${opened}`;
    const log = vi.fn<ErrorLog>();
    const queues = stopAfterTest(backend.open({ url, namespace, log }));
    await queues.ping();
    return { queues, namespace, log };
  }

  test('passes each job unchanged to a consumer of its queue', async () => {
    const { queues } = await open();
    const taken: unknown[] = [];
    await queues.consume('delivery', { concurrency: 5 }, async (given) => void taken.push(given));
    await queues.enqueue([
      buildJob('a', { payload: { text: 'ü', list: [1, null] } }),
      buildJob('b', { queue: 'maintenance' }),
    ]);
    await vi.waitFor(() => expect(taken.length).toBe(1), waitOptions);
    const payload = { text: 'ü', list: [1, null] };
    expect(taken).toEqual([{ id: 'a', name: 'deliver_event', payload, attempt: 1 }]);
    await vi.waitFor(async () => {
      const depths = await queues.depths();
      expect(depths.map(({ queue, waiting, active }) => [queue, waiting, active])).toEqual([
        ['delivery', 0, 0],
        ['webhooks', 0, 0],
        ['remote-delivery', 0, 0],
        ['notifications', 0, 0],
        ['search-indexing', 0, 0],
        ['attachment-scanning', 0, 0],
        ['maintenance', 1, 0],
        ['agent-erasure', 0, 0],
        ['agent-export', 0, 0],
      ]);
    }, waitOptions);
  });

  test('runs jobs in the order they were added', async () => {
    const { queues } = await open();
    const ids = Array.from({ length: 60 }, (_, n) => `job-${n}`);
    for (const id of ids.slice(0, 10)) await queues.enqueue([buildJob(id)]);
    await Promise.all(ids.slice(10, 20).map((id) => queues.enqueue([buildJob(id)])));
    await queues.enqueue(ids.slice(20).map((id) => buildJob(id)));
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 1 }, async ({ id }) => void done.push(id));
    await vi.waitFor(() => expect(done.length).toBe(60), waitOptions);
    expect(done).toEqual(ids);
  });

  test('ignores a job whose id is in the queue, and accepts it again once completed', async () => {
    const { queues } = await open();
    const done: string[] = [];
    await queues.enqueue([buildJob('same'), buildJob('same')]);
    await queues.enqueue([buildJob('same')]);
    await queues.consume('delivery', { concurrency: 4 }, async ({ id }) => void done.push(id));
    await queues.enqueue([buildJob('last')]);
    await vi.waitFor(() => expect(done).toEqual(['same', 'last']), waitOptions);
    await vi.waitFor(async () => {
      await queues.enqueue([buildJob('same')]);
      // Each try may add it once more.
      expect(done.slice(0, 3)).toEqual(['same', 'last', 'same']);
    }, waitOptions);
  });

  test('retries with a doubling delay', async () => {
    const { queues } = await open();
    const tries: { attempt: number; at: number }[] = [];
    await queues.consume('delivery', { concurrency: 1 }, async ({ attempt }) => {
      tries.push({ attempt, at: Date.now() });
      if (attempt < 3) throw new Error('not yet');
    });
    await queues.enqueue([buildJob('stubborn', { attempts: 5, backoff_ms: 200 })]);
    await vi.waitFor(() => expect(tries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]), waitOptions);
    const [first = 0, second = 0, third = 0] = tries.map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(195);
    expect(third - second).toBeGreaterThanOrEqual(395);
  });

  test('keeps and reports jobs that failed permanently, and retries them on request', async () => {
    const { queues, log } = await open();
    const attempts: number[] = [];
    let broken = true;
    await queues.consume('delivery', { concurrency: 1 }, async ({ attempt }) => {
      attempts.push(attempt);
      if (broken) throw new Error('broken');
    });
    const failing = buildJob('failing', { attempts: 2, backoff_ms: 1 });
    await queues.enqueue([failing]);
    const failedOnes = async (): Promise<number | undefined> => (await queues.depths())[0]?.failed;
    await vi.waitFor(async () => expect(await failedOnes()).toBe(1), waitOptions);
    expect(log).toHaveBeenCalledWith('a job of queue delivery failed for good', expect.any(Error));
    broken = false;
    await queues.enqueue([failing]);
    expect(await failedOnes()).toBe(1);
    await queues.enqueue([failing, buildJob('unknown')], { retryFailed: true });
    await vi.waitFor(async () => expect(await failedOnes()).toBe(0), waitOptions);
    await vi.waitFor(() => expect(attempts).toHaveLength(4), waitOptions);
    expect(attempts.filter((attempt) => attempt === 1)).toHaveLength(3);
  });

  test('runs as many jobs in parallel as configured', async () => {
    const { queues } = await open();
    let running = 0;
    let maxRunning = 0;
    let done = 0;
    await queues.consume('delivery', { concurrency: 3 }, async () => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await vi.waitFor(() => expect(maxRunning).toBe(3), waitOptions);
      running -= 1;
      done += 1;
    });
    await queues.enqueue(Array.from({ length: 12 }, (_, n) => buildJob(`job-${n}`)));
    await vi.waitFor(() => expect(done).toBe(12), waitOptions);
    expect(maxRunning).toBe(3);
  });

  test('waits for running jobs when a consumer is closed', async () => {
    const { queues } = await open();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const events: string[] = [];
    const consumer = await queues.consume('delivery', { concurrency: 1 }, async ({ id }) => {
      events.push(`${id} started`);
      await finished;
      events.push(`${id} finished`);
    });
    await queues.enqueue([buildJob('slow'), buildJob('left')]);
    await vi.waitFor(() => expect(events).toEqual(['slow started']), waitOptions);
    const closed = consumer.close().then(() => events.push('closed'));
    await queues.ping();
    finish();
    await closed;
    expect(events).toEqual(['slow started', 'slow finished', 'closed']);
    expect((await queues.depths())[0]).toMatchObject({ waiting: 1, active: 0, failed: 0 });
  });

  test('counts the wait of a delayed job since it was due', async () => {
    const { queues } = await open();
    const taken: string[] = [];
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const handle = async ({ id }: { id: string }) => {
      taken.push(id);
      if (id === 'first') await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(due), waitOptions);
      else if (!end.signal.aborted) await once(end.signal, 'abort');
    };
    const delay_ms = 300;
    const due = Date.now() + delay_ms;
    await queues.enqueue([buildJob('first'), ...['one', 'two'].map((id) => buildJob(id, { delay_ms }))]);
    await queues.consume('delivery', { concurrency: 1 }, handle);
    await vi.waitFor(() => expect(taken).toEqual(['first', 'one']), waitOptions);
    expect((await queues.depths())[0]).toMatchObject({ waiting: 1, oldest: expect.any(Number) });
    expect((await queues.depths())[0]?.oldest).toBeGreaterThanOrEqual(due);
  });

  test('passes on a returned job with all its attempts', async () => {
    const { queues, log } = await open();
    const attempts: number[] = [];
    const stop = new AbortController();
    const first = await queues.consume('delivery', { concurrency: 1 }, async ({ attempt }) => {
      attempts.push(attempt);
      await once(stop.signal, 'abort');
      stop.signal.throwIfAborted();
    });
    await queues.enqueue([buildJob('long', { attempts: 1 })]);
    await vi.waitFor(() => expect(attempts).toEqual([1]), waitOptions);
    const closed = first.close();
    stop.abort(new JobPutBack('this worker stops'));
    await closed;
    expect((await queues.depths())[0]).toMatchObject({ waiting: 1, active: 0, delayed: 0, failed: 0 });
    await queues.consume('delivery', { concurrency: 1 }, async ({ attempt }) => {
      attempts.push(attempt);
    });
    await vi.waitFor(() => expect(attempts).toEqual([1, 1]), waitOptions);
    expect(log).not.toHaveBeenCalled();
  });

  test('refuses an id that BullMQ cannot store', async () => {
    const { queues } = await open();
    await expect(queues.enqueue([buildJob('fine'), buildJob('event:job')])).rejects.toThrow(/no colon/);
    await expect(queues.enqueue([buildJob('42')])).rejects.toThrow(/not a number/);
    expect((await queues.depths())[0]?.waiting).toBe(0);
  });

  test('fails fast during an outage of the backend, and consumers recover by themselves', async () => {
    const proxy = stopAfterTest(await startTcpProxy(backend.url));
    const { queues, log } = await open(proxy.url);
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.push(id));
    await queues.enqueue([buildJob('before')]);
    await vi.waitFor(() => expect(done).toEqual(['before']), waitOptions);
    await proxy.disconnect();
    const started = Date.now();
    await expect(queues.enqueue([buildJob('lost')])).rejects.toThrow(/./);
    expect(Date.now() - started).toBeLessThan(2_000);
    await expect(queues.ping()).rejects.toThrow(/./);
    await proxy.restore();
    await vi.waitFor(() => queues.ping(), waitOptions);
    await queues.enqueue([buildJob('after')]);
    await vi.waitFor(() => expect(done).toEqual(['before', 'after']), waitOptions);
    expect(log).toHaveBeenCalled();
  });

  test('closes during an outage of the backend', async () => {
    const proxy = stopAfterTest(await startTcpProxy(backend.url));
    const { queues } = await open(proxy.url);
    const consumer = await queues.consume('delivery', { concurrency: 1 }, async () => undefined);
    await proxy.disconnect();
    await expect(queues.ping()).rejects.toThrow(/./);
    await consumer.close();
    await queues.close();
    await expect(queues.enqueue([buildJob('late')])).rejects.toThrow(/closed/);
  });

  test('does not consume from an unreachable backend', async () => {
    const proxy = await startTcpProxy(backend.url);
    const queues = stopAfterTest(backend.open({ url: proxy.url, namespace: 'absent', log: () => undefined }));
    await proxy.disconnect();
    await expect(queues.consume('delivery', { concurrency: 1 }, async () => undefined)).rejects.toThrow(/./);
    await expect(queues.ping()).rejects.toThrow(/./);
    await expect(queues.enqueue([buildJob('early')])).rejects.toThrow(/./);
    await proxy.restore();
    onTestFinished(() => proxy.close());
    await vi.waitFor(() => queues.ping(), waitOptions);
  });

  test('takes over the jobs of a killed worker', async () => {
    const { queues, namespace } = await open();
    const script = join(import.meta.dirname, '../../support/stalled-worker.ts');
    const args = ['--import', 'tsx', script, backend.kind, backend.url, namespace];
    const worker = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void worker.kill('SIGKILL'));
    const lines = createInterface(worker.stdout);
    await queues.enqueue([buildJob('orphan')]);
    const [taken]: unknown[] = await once(lines, 'line');
    expect(taken).toBe('orphan');
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 1 }, async ({ id }) => void done.push(id));
    worker.kill('SIGKILL');
    await vi.waitFor(() => expect(done).toEqual(['orphan']), { ...waitOptions, timeout: 20_000 });
  });
}
