import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { maxDelayMs, measureDelay } from './loop-delay.ts';

/** A server with the metrics of an API process; other paths hold the loop for the milliseconds that they name, in one piece or yielding. */
async function startServer(): Promise<string> {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const server = createServer((request, response) => {
    const [, how, ms] = (request.url ?? '').split('/');
    if (how === 'metrics') {
      void register.metrics().then((text) => response.end(text));
      return;
    }
    const end = performance.now() + Number(ms);
    const work = () => {
      const until = how === 'yields' ? Math.min(end, performance.now() + 1) : end;
      while (performance.now() < until);
      if (performance.now() < end) setImmediate(work);
      else response.end();
    };
    work();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a call that holds the loop for a little more than the bound counts as slow; one that yields does not', async () => {
  const url = await startServer();
  const call = (how: string, ms: number) => measureDelay(url, () => fetch(`${url}/${how}/${ms}`));
  expect(await call('holds', maxDelayMs + 15)).toBeGreaterThan(maxDelayMs);
  expect(await call('yields', 4 * maxDelayMs)).toBeLessThanOrEqual(maxDelayMs);
});
