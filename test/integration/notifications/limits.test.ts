import { expect, test } from 'vitest';
import { fillForm } from '../console/signed-in-person.ts';
import { page, submit, useNotifications } from './setup.ts';

const setup = useNotifications({
  env: { RATE_LIMITS: 'notification_settings=4/3600,notification_message=2/3600' },
});

test('changes of the settings are limited for each person', async () => {
  const [ada, bob] = [await setup.person(), await setup.person()];
  const change = () => submit(ada, 'timing', { fields: { timing: 'daily', hour: '8', time_zone: 'UTC' } });
  const statuses = await Array.from({ length: 5 }).reduce<Promise<number[]>>(
    async (before) => [...(await before), (await change()).status],
    Promise.resolve([]),
  );
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  expect((await change()).visibleText).toContain('Too many attempts. Wait');
  const own = await submit(bob, 'timing', { fields: { timing: 'daily', hour: '8', time_zone: 'UTC' } });
  expect(own.status).toBe(200);
});

test('an address gets a limited number of messages, from however many people', async () => {
  const people = [await setup.person(), await setup.person(), await setup.person()];
  const address = `Victim-${people[0]?.username}@mail.example`;
  const answers = await Promise.all(
    people.map((person) => submit(person, 'email', { fields: { email: address } })),
  );
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
});

test('test messages are limited', async () => {
  const ada = await setup.person();
  await setup.turnWebhookOn(ada);
  const form = fillForm(await ada.go(page), `${page}/test`, { channel: 'webhook' });
  const texts = await Array.from({ length: 3 }).reduce<Promise<string[]>>(
    async (before) => [...(await before), (await ada.send(form)).visibleText],
    Promise.resolve([]),
  );
  expect(texts.map((text) => text.includes('A test message is sent'))).toEqual([true, true, false]);
  expect(texts[2]).toContain('Too many attempts');
});
