import { expect, test } from 'vitest';
import { removeMember } from '../../../src/services/people/memberships.ts';
import { fillForm, createOrganizationOf } from '../console/signed-in-person.ts';
import { page, useNotifications, waitUntil } from './setup.ts';

const setup = useNotifications();

test('a person who leaves an organization is no longer notified of its agents, and their items are removed', async () => {
  const [ada, bob] = [await setup.person(), await setup.person()];
  const slug = await createOrganizationOf(setup.service, { admins: [ada, bob] });
  const desk = await setup.service.register({
    handle: `${slug}.desk`,
    visibility: 'public',
    inbound_policy: 'open',
  });
  const hooks = [await setup.turnWebhookOn(ada), await setup.turnWebhookOn(bob)];
  const counts = () => hooks.map(({ path }) => setup.receiver.postsAt(path).length);
  const asks = { ...ada, own: desk };
  await setup.ask(asks);
  await waitUntil(counts).toEqual([1, 1]);
  await setup.service.write((work) => removeMember(work, ada.person, { slug, username: bob.username }));
  expect(await setup.count('notification_items', bob)).toBe(0);
  await setup.ask(asks);
  await waitUntil(counts).toEqual([2, 1]);
});

test('erasing an agent removes the items of it', async () => {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  await setup.ask(ada);
  await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
  const { removed } = await setup.service.write(async (work) => ({
    removed: await work.db.erasure.removeOwnedRows(ada.own.id),
  }));
  expect(removed).toMatchObject({ notification_items: 1 });
  expect(await setup.count('notification_items', ada)).toBe(0);
});

test('items are forgotten a month after they were last seen to wait', async () => {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  await setup.ask(ada);
  await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
  const { database, db } = setup.service.core;
  const month = 30 * 86_400_000;
  const removeUnseen = () => db.notificationMessages.removeUnseen(Date.now() - month, 100);
  await removeUnseen();
  expect(await setup.count('notification_items', ada)).toBe(1);
  const text = 'update notification_items set seen_at = $2 where account_id = $1';
  const age = (at: number) => database.query({ text }, [ada.person.account_id, at]);
  // An item that still waits is seen by the next check.
  const dayAgo = Date.now() - 2 * 86_400_000;
  await age(dayAgo);
  const seen = `select 1 from notification_items where account_id = $1 and seen_at > $2`;
  const rows = () => database.query({ text: seen }, [ada.person.account_id, dayAgo]);
  await waitUntil(async () => (await rows()).length).toBe(1);
  await age(Date.now() - month - 1);
  await removeUnseen();
  expect(await setup.count('notification_items', ada)).toBe(0);
});

test('turning a channel off removes it with its messages', async () => {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  await setup.ask(ada);
  const off = await ada.send(fillForm(await ada.go(page), `${page}/off`, { channel: 'webhook' }));
  expect(off.visibleText).toContain('WebhookOff');
  expect(await setup.count('notification_channels', ada)).toBe(0);
  expect(await setup.count('notification_messages', ada)).toBe(0);
  expect(setup.receiver.postsAt(path).length).toBeLessThan(2);
});
