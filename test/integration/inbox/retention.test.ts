import { expect, test } from 'vitest';
import { expireItems } from '../../../src/services/inbox/expiry.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { followFeed } from '../../clients/feed.ts';
import { useService } from '../../support/service.ts';
import { inboxOf, startWork } from './setup.ts';

const dayMs = 24 * 60 * 60 * 1000;

const service = useService({ worker: false });

/** Runs the hourly maintenance as in 31 days, when the feed no longer keeps these events. */
async function expireIn31Days(): Promise<void> {
  const oldest = Date.now() + 31 * dayMs - service.core.config.FEED_RETENTION_DAYS * dayMs;
  const expiring = await service.core.db.inboxRetention.listOld('', 'evt_7', 500);
  for (const id of expiring.old) {
    await service.write((work) => expireItems(work, id, oldest));
  }
}

test('items are removed with the feed, in every state, and the agent learns how many', async () => {
  const { worker, inbox, openThread, send } = await startWork(service, { max_attempts: 1 });
  for (const text of ['dead', 'leased']) await send(text, await openThread());
  const [dead] = await inbox.leases({ max: 2 });
  await inbox.release(dead?.id ?? '');
  // This one is still in the feed only.
  await send('ready', await openThread());
  const events = await followFeed(service.api, worker.token);
  await expireIn31Days();
  const [expired] = await events();
  expect(expired).toMatchObject({ type: 'inbox.expired', data: { count: 3 } });
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0, dead: 0 });
  await expireIn31Days();
  expect(await events()).toEqual([]);
});

test('the next item of a thread is ready when those before it have expired', async () => {
  const { worker, inbox, send } = await startWork(service);
  const first = await send('one');
  let second = await send('two');
  while (second.created_at === first.created_at) second = await send('two');
  await inbox.turnOn();
  const [lease] = await inbox.leases();
  await inbox.release(lease?.id ?? '');
  await service.write((work) => expireItems(work, worker.id, second.created_at));
  const [next] = await inbox.leases({ max: 10 });
  expect([lease?.event.data.id, next?.event.data.id]).toEqual([first.id, second.id]);
});

test('maintenance keeps recent items, and removes consumers that have not claimed for a day', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('one');
  await inbox.leases({ consumer: 'new' });
  const text = 'insert into inbox_consumers (agent_id, consumer, last_claim_at) values ($1, $2, $3)';
  await service.sql(text, [worker.id, 'old', Date.now() - dayMs - 1_000]);
  expect((await inbox.get()).body.consumers.map(({ name }: { name: string }) => name)).toEqual(['new']);
  await maintenanceHandler(service.core).handle({ task: 'expire-feeds' });
  const left = await service.sql<{ consumer: string }>(
    'select consumer from inbox_consumers where agent_id = $1',
    [worker.id],
  );
  expect(left).toEqual([{ consumer: 'new' }]);
  expect((await inboxOf(service.api, worker).get()).body).toMatchObject({ leased: 1 });
});
