import { expect, test } from 'vitest';
import { scrapeMetrics } from '../../ops/scrape.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { meetRemote, useInstallation } from '../setup.ts';

const service = useInstallation({ env: { OPS_PORT: '0' } });

async function readOutcome(outcome: string): Promise<number> {
  const metrics = await scrapeMetrics(service.ops.worker);
  return metrics.value('ams_remote_deliveries_total', { outcome }) ?? 0;
}

test('deliveries are counted by outcome, and the age of the oldest waiting message is shown', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const thread_id = await service.thread(ann, remote);
  await service.send(ann, thread_id, 'silent one');
  await waitUntil(() => readOutcome('accepted')).toBe(1);

  server.failNext('SendMessage', { status: 500 }, 3);
  await service.send(ann, thread_id, 'silent two');
  await waitUntil(() => readOutcome('undeliverable')).toBe(1);
  expect(await readOutcome('retried')).toBe(2);

  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  const { id } = await service.send(ann, thread_id, 'silent three');
  const minuteMs = 60_000;
  await service.sql('update messages set created_at = created_at - $2::bigint where id = $1', [id, minuteMs]);
  for (const ops of [service.ops.api, service.ops.worker]) {
    const readAge = async () => (await scrapeMetrics(ops)).value('ams_remote_oldest_message_age_seconds');
    await waitUntil(readAge).toBeGreaterThan(59);
  }
  server.recover();
  await service.pass(thread_id);
  for (const ops of [service.ops.api, service.ops.worker]) {
    const readAge = async () => (await scrapeMetrics(ops)).value('ams_remote_oldest_message_age_seconds');
    await waitUntil(readAge).toBe(0);
  }
  expect(await readOutcome('accepted')).toBe(2);
});
