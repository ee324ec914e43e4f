import { expect, test } from 'vitest';
import { useService } from '../../support/service.ts';
import { startWork } from '../../integration/inbox/setup.ts';
import { scrapeMetrics } from '../../integration/ops/scrape.ts';

const service = useService({ env: { OPS_PORT: '0' } });

/** The gauges of a process: ready, leased, dead, and the age of the oldest item in seconds. */
async function readGauges(ops: string) {
  const { value } = await scrapeMetrics(ops);
  return {
    states: ['ready', 'leased', 'dead'].map((state) => value(`ams_inbox_${state}`)),
    age: value('ams_inbox_oldest_age_seconds'),
  };
}

test('the metrics of API and worker count the items of all inboxes by state, with the age of the oldest', async () => {
  const { api, worker } = service.ops;
  for (const ops of [api, worker]) expect(await readGauges(ops)).toEqual({ states: [0, 0, 0], age: 0 });

  const started = Date.now();
  const { inbox, openThread, send } = await startWork(service, { max_attempts: 1 });
  for (const text of ['dead', 'leased']) await send(text, await openThread());
  const [dead] = await inbox.leases({ max: 2 });
  await inbox.release(dead?.id ?? '', { reason: 'No.' });
  await send('ready', await openThread());
  // The inbox of another agent, which has no claim yet, counts too.
  const other = await startWork(service);
  await other.send('ready');

  for (const ops of [api, worker]) {
    const states = async () => (await readGauges(ops)).states;
    await expect.poll(states).toEqual([2, 1, 1]);
    const { age = 0 } = await readGauges(ops);
    expect(age).toBeGreaterThan(0);
    expect(age).toBeLessThanOrEqual((Date.now() - started) / 1_000);
  }
});
