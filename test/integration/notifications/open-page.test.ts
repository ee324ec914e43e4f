import { expect, test } from 'vitest';
import { pageLease } from '../../../packages/core/src/domain/notifications.ts';
import { openLivePage } from '../../clients/live-page.ts';
import { submit, useNotifications, waitUntil } from './setup.ts';

const clock = { ahead: 0 };
const setup = useNotifications({
  ahead: () => clock.ahead,
  overrides: { leasedStreamMs: 5_000 },
});
const stream = '/console/live/notifications';

test('while a page with browser notifications is open, messages wait; they are sent after it is gone', async () => {
  const [ada, bob] = [await setup.person(), await setup.person()];
  const [{ path }, bobs] = [await setup.turnWebhookOn(ada), await setup.turnWebhookOn(bob)];
  await submit(ada, 'browser', {});
  const page = await openLivePage(setup.service.url, ada, stream);
  const text = 'select 1 from notification_settings where account_id = $1 and page_open_until > $2';
  const leases = () => setup.service.sql(text, [ada.person.account_id, Date.now()]);
  await waitUntil(async () => (await leases()).length).toBe(1);
  const id = await setup.ask(ada);
  await waitUntil(() => page.shown()).toContain(`data-key="${id}"`);
  await setup.ask(bob);
  await waitUntil(() => setup.receiver.postsAt(bobs.path).length).toBe(1);
  expect(setup.receiver.postsAt(path)).toEqual([]);
  // The server ends the stream. A browser that is still there connects again, and gets the whole list.
  await page.closed;
  expect(page.events.map(({ type }) => type)).not.toContain('end');
  const again = await openLivePage(setup.service.url, ada, stream, {
    'Last-Event-ID': page.events.at(-1)?.id ?? '',
  });
  await waitUntil(() => again.shown()).toContain(`data-key="${id}"`);
  expect(setup.receiver.postsAt(path)).toEqual([]);
  again.close();
  clock.ahead = pageLease.openMs;
  await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
});

test('the stream ends for people without browser notifications, and holds nothing back', async () => {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  const page = await openLivePage(setup.service.url, ada, stream);
  await page.closed;
  expect(page.events.map(({ type }) => type)).toEqual(['end']);
  await setup.ask(ada);
  await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
});

test('pages notify only people who have turned it on', async () => {
  const ada = await setup.person();
  const notifies = async () => (await ada.go('/console/sessions')).text.includes(' data-notifies');
  expect(await notifies()).toBe(false);
  await submit(ada, 'browser', {});
  expect(await notifies()).toBe(true);
  await submit(ada, 'browser', {});
  expect(await notifies()).toBe(false);
});
