import { expect, test } from 'vitest';
import { decideAsPerson } from '../../../src/services/approvals/approvals.ts';
import { submit, useNotifications, waitUntil } from './setup.ts';

const clock = { ahead: 0 };
const setup = useNotifications({ backend: 'redis', ahead: () => clock.ahead });

const hourMs = 3_600_000;

test('a daily message comes at its hour, with what is new and still waits', async () => {
  const ada = await setup.person();
  const { path } = await setup.turnWebhookOn(ada);
  const posts = () => setup.receiver.postsAt(path).map(({ json }) => json);
  // In three hours, by the clock of a place that is ahead of UTC.
  const hour = (new Date().getUTCHours() + 3 + 2) % 24;
  await submit(ada, 'timing', {
    fields: { timing: 'daily', hour: String(hour), time_zone: '+02:00' },
  });
  const [first, second] = [await setup.ask(ada), await setup.ask(ada)];
  clock.ahead = 1.5 * hourMs;
  // Another person gets messages at once: the worker is not idle.
  const bob = await setup.person();
  const bobs = await setup.turnWebhookOn(bob);
  await setup.ask(bob);
  await waitUntil(() => setup.receiver.postsAt(bobs.path).length).toBe(1);
  expect(posts()).toEqual([]);
  await setup.service.write((work) => decideAsPerson(work, ada.person.account_id, first, 'denied'));
  clock.ahead = 4 * hourMs;
  await waitUntil(() => posts().length).toBe(1);
  expect(posts()[0].items.map(({ url }: { url: string }) => url.split('/').at(-1))).toEqual([second]);
  const third = await setup.ask(ada);
  clock.ahead = 20 * hourMs;
  await setup.ask(bob);
  await waitUntil(() => setup.receiver.postsAt(bobs.path).length).toBe(2);
  expect(posts()).toHaveLength(1);
  clock.ahead = 28 * hourMs;
  await waitUntil(() => posts().length).toBe(2);
  expect(posts()[1].items.map(({ url }: { url: string }) => url.split('/').at(-1))).toEqual([third]);
  // A day without anything new causes no message.
  clock.ahead = 52 * hourMs;
  await setup.ask(bob);
  await waitUntil(() => setup.receiver.postsAt(bobs.path).length).toBe(3);
  expect(posts()).toHaveLength(2);
});
