import { expect, test } from 'vitest';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { inboxOf } from '../inbox/setup.ts';
import { post, sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';
import { page, submit, useNotifications, waitUntil } from './setup.ts';

// A day: only the events that make items wait find them, not the periodic check.
const setup = useNotifications({ pacing: { recheckMs: 86_400_000 } });

/** A person with a webhook, whose first check is done. */
async function start() {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  const text = 'select 1 from notification_settings where account_id = $1 and due_at > $2';
  const values = [ada.person.account_id, Date.now() + 3_600_000];
  const checked = () => setup.service.sql(text, values);
  await waitUntil(async () => (await checked()).length).toBe(1);
  const items = () => setup.receiver.postsAt(path).flatMap(({ json }) => json.items);
  return { ada, items };
}

test('a contact request', async () => {
  const { ada, items } = await start();
  const other = await setup.service.agent();
  await post(setup.service, other, '/contacts/requests', { handle: ada.own.handle, message: 'Hello?' });
  await waitUntil(() => items().length).toBe(1);
  expect(items()[0]).toMatchObject({
    kind: 'contact_request',
    agent: ada.own.handle,
    text: expect.stringContaining(`(@${other.handle}) wants to be a contact of @${ada.own.handle}`),
    url: `http://localhost:3000/console/agents/${ada.own.id}/contacts`,
  });
});

test('a message that asks a person, and none that does not', async () => {
  const { ada, items } = await start();
  const other = await setup.service.agent();
  await startThread(setup.service, other, [ada.own], { subject: 'Plain' });
  const id = await startThread(setup.service, other, [ada.own], {
    subject: 'Urgent',
    metadata: { asks_person: true },
  });
  await waitUntil(() => items().length).toBe(1);
  expect(items()[0]).toMatchObject({
    kind: 'question',
    text: `@${other.handle} asks a person in “Urgent” with @${ada.own.handle}`,
    url: `http://localhost:3000/console/conversations/${id}`,
  });
});

test('nothing of a conversation that the person has muted', async () => {
  const { ada, items } = await start();
  const other = await setup.service.agent();
  const id = await startThread(setup.service, other, [ada.own], { subject: 'Muted' });
  const address = `/console/conversations/${id}`;
  await ada.fill(address, { button: 'mute' }, `${address}/mark`);
  const metadata = { asks_person: true };
  await sendTo(setup.service, other, id, 'May I?', { metadata });
  await startThread(setup.service, other, [ada.own], { subject: 'Loud', metadata });
  await waitUntil(() => items().length).toBe(1);
  expect(items()[0].text).toContain('Loud');
  await ada.fill(address, { button: 'unmute' }, `${address}/mark`);
  await setup.service.sql('update notification_settings set due_at = 0 where account_id = $1', [
    ada.person.account_id,
  ]);
  await waitUntil(() => items().length).toBe(2);
});

test('a message by which an agent of the same person asks a person', async () => {
  const { ada, items } = await start();
  const asking = await ada.agent('asking');
  await startThread(setup.service, asking, [ada.own], { subject: 'Own', metadata: { asks_person: true } });
  await waitUntil(() => items().length).toBe(1);
  expect(items()[0]).toMatchObject({
    kind: 'question',
    agent: ada.own.handle,
    text: `@${asking.handle} asks a person in “Own” with @${ada.own.handle}`,
  });
});

test('an inbox item that was given back for the last time, and one whose last lease expired', async () => {
  const { ada, items } = await start();
  const inbox = inboxOf(setup.service.api, ada.own);
  await inbox.turnOn({ max_attempts: 1 });
  const other = await setup.service.agent();
  await startThread(setup.service, other, [ada.own]);
  const [lease] = await inbox.leases({ wait_seconds: 10 });
  await inbox.release(lease?.id ?? '', { reason: 'No.' });
  await waitUntil(() => items().length).toBe(1);
  expect(items()[0]).toMatchObject({
    kind: 'inbox',
    url: `http://localhost:3000/console/agents/${ada.own.id}/inbox`,
  });
  const second = await start();
  const next = inboxOf(setup.service.api, second.ada.own);
  await next.turnOn({ max_attempts: 1 });
  await startThread(setup.service, other, [second.ada.own]);
  await next.leases({ wait_seconds: 10 });
  const text = 'update inbox_items set expires_at = 1 where agent_id = $1';
  await setup.service.sql(text, [second.ada.own.id]);
  // No instance claims any more.
  await maintenanceHandler(setup.service.core).handle({ task: 'end-leases' });
  await waitUntil(() => second.items().map(({ kind }) => kind)).toEqual(['inbox']);
});

test('a webhook of an agent that was disabled', async () => {
  const { ada, items } = await start();
  setup.receiver.setHandler((response, sent) =>
    respondWith(sent.path === '/gone' ? 410 : 204)(response, sent),
  );
  const token = await setup.service.token(ada.own.handle, { scopes: ['agents:write', 'threads:read'] });
  const url = `${setup.receiver.url}/gone`;
  const created = await setup.service.post({ token }, '/webhooks', { url });
  expect(created.status).toBe(201);
  const other = await setup.service.agent();
  await startThread(setup.service, other, [ada.own]);
  await waitUntil(() => items().map(({ kind }) => kind)).toEqual(['webhook']);
  expect(items()[0].url).toBe(
    `http://localhost:3000/console/agents/${ada.own.id}/webhooks/${created.body.id}`,
  );
});

test('nothing is written for people who have turned nothing on', async () => {
  const ada = await setup.person();
  await setup.ask(ada);
  const { outbox } = setup.service.core.db;
  await waitUntil(async () => (await outbox.readAge()).rows).toBe(0);
  expect((await ada.go(page)).status).toBe(200);
  const tables = ['settings', 'channels', 'items', 'messages'];
  expect(await Promise.all(tables.map((name) => setup.count(`notification_${name}`, ada)))).toEqual([
    0, 0, 0, 0,
  ]);
  await submit(ada, 'browser', {});
  expect(await setup.count('notification_settings', ada)).toBe(1);
});
