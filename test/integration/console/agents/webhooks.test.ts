import { textContent } from 'domutils';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newId } from '../../../../packages/core/src/domain/ids.ts';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { type TestAgent, useService } from '../../../support/service.ts';
import { startWebhookReceiver, respondWith } from '../../../support/servers/webhook-receiver.ts';
import {
  findFieldError,
  readFormFields,
  fillForm,
  type Owner,
  signInWithAgent,
} from '../signed-in-person.ts';
import { use } from '../../../support/use.ts';

const service = useService({ worker: false, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const receiver = use(startWebhookReceiver);

const listOf = ({ id }: Pick<TestAgent, 'id'>) => `/console/agents/${id}/webhooks`;
const secretOn = (page: PageResponse) => page.elements('output').map((each) => textContent(each))[0] ?? '';

/** Creates a webhook on the page; returns the address of its page. */
async function createWebhook(who: Owner, description = 'Night job') {
  const address = `${listOf(who.mine)}/new`;
  const fields = { url: `${receiver.url}/hook`, description, event_types: 'message.created' };
  const page = await who.fill(address, { fields });
  const [webhook] = await service.core.db.webhooks.list(who.mine.id);
  if (!webhook) throw new Error('no webhook was made');
  return { page, secret: secretOn(page), id: webhook.id, address: `${listOf(who.mine)}/${webhook.id}` };
}

/** Records an attempt, as the worker does. */
async function noted(webhook_id: string, state: 'failed' | 'delivered'): Promise<string> {
  const id = newId('event');
  await service.sql(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, attempts, last_status, last_error, created_at)
             values ($1, $2, 'message.created', 1, $3, 10, 503, null, $4)`,
    [webhook_id, id, state, Date.now()],
  );
  return id;
}

test('a webhook is created, and its secret is shown once, however often the form is sent', async () => {
  const ada = await signInWithAgent(service);
  expect((await ada.go(listOf(ada.mine))).visibleText).toContain('No webhooks');
  const address = `${listOf(ada.mine)}/new`;
  const form = findForm(await ada.go(address), address);
  const fields = {
    url: `${receiver.url}/hook`,
    description: '<b>Night</b> job',
    event_types: 'message.created',
  };
  const first = await ada.send(form, { fields });
  const again = await ada.send(form, { fields });
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(secretOn(first)).toMatch(/^whsec_/);
  expect(secretOn(again)).toBe(secretOn(first));
  const list = await ada.go(listOf(ada.mine));
  expect(list.visibleText).toContain('<b>Night</b> job');
  expect(list.visibleText).toContain('Message sent');
  expect(list.visibleText.match(/Enabled/g)).toHaveLength(1);
  expect(list.text).not.toContain('whsec_');
});

test.each([
  ['an invalid address', { url: 'nonsense' }, 'url', 'URL must be an address that starts with https://.'],
  ['an inner address', { url: 'https://10.0.0.1/' }, 'url', 'URL must lead to a public address.'],
  [
    'a long description',
    { description: 'x'.repeat(201) },
    'description',
    'Description must have at most 200 characters.',
  ],
])('none is made with %s', async (_what, wrong, field, message) => {
  const ada = await signInWithAgent(service);
  const address = `${listOf(ada.mine)}/new`;
  const fields = { url: 'https://receiver.example.com/', description: 'Kept', ...wrong };
  const page = await ada.fill(address, { fields });
  expect([page.status, findFieldError(page, field)]).toEqual([400, message]);
  expect(readFormFields(page, address)[field]).toBe(fields[field as 'url']);
  expect((await ada.go(listOf(ada.mine))).visibleText).toContain('No webhooks');
});

test('it is changed, disabled and enabled again', async () => {
  const ada = await signInWithAgent(service);
  const { address } = await createWebhook(ada);
  const fields = { url: `${receiver.url}/other`, description: 'Day job', only_when_offline: 'on' };
  const saved = await ada.fill(address, { fields });
  expect(saved.visibleText).toMatch(/Webhook saved.*Day job/);
  expect(readFormFields(saved, address)).toMatchObject({ ...fields, event_types: 'message.created' });
  const wrong = await ada.fill(address, { fields: { url: 'ftp://example.com' } });
  expect([wrong.status, readFormFields(wrong, address)['url']]).toEqual([400, 'ftp://example.com']);
  const state = `${address}/state`;
  const disabled = await ada.send(findForm(await ada.go(address), state));
  expect(disabled.visibleText).toMatch(/Webhook disabled.*Disabled by you or the agent/);
  const enabled = await ada.send(findForm(disabled, state));
  expect(enabled.visibleText).toMatch(/Webhook enabled/);
  expect(enabled.visibleText).not.toContain('Disabled by you');
});

test('a test event shows the response', async () => {
  const ada = await signInWithAgent(service);
  const { address, secret, id } = await createWebhook(ada);
  const send = async () => ada.send(findForm(await ada.go(address), `${address}/test`));
  expect((await send()).visibleText).toContain('The server answered the test event with 204: delivered.');
  const post = receiver.posts.find(({ json }) => json.data.webhook_id === id);
  if (!post) throw new Error('nothing was posted');
  expect(new Webhook(secret).verify(post.text, post.headers as Record<string, string>)).toEqual(post.json);
  receiver.setHandler(respondWith(500));
  expect((await send()).visibleText).toContain('The server answered the test event with 500: not delivered.');
  receiver.setHandler((response) => void response.socket?.destroy());
  expect((await send()).visibleText).toContain(
    'The test event could not be delivered: the connection broke off.',
  );
  receiver.setHandler(respondWith(204));
});

test('a new secret is shown once, and the page says that the previous one is valid for a day', async () => {
  const ada = await signInWithAgent(service);
  const { address, secret } = await createWebhook(ada);
  const form = findForm(await ada.go(address), `${address}/rotate`);
  const rotated = await ada.send(form);
  expect(secretOn(rotated)).toMatch(/^whsec_/);
  expect(secretOn(rotated)).not.toBe(secret);
  expect(secretOn(await ada.send(form))).toBe(secretOn(rotated));
  expect((await ada.go(address)).visibleText).toContain(
    'Requests are also signed with the previous secret until in 23 hours.',
  );
});

test('the log shows failed deliveries, and replays them', async () => {
  const ada = await signInWithAgent(service);
  const { address, id } = await createWebhook(ada);
  const log = `${address}/deliveries`;
  expect((await ada.go(log)).visibleText).toContain('No deliveries');
  const [one, two, fine] = [
    await noted(id, 'failed'),
    await noted(id, 'failed'),
    await noted(id, 'delivered'),
  ];
  const failed = await ada.go(`${log}?state=failed`);
  expect(failed.visibleText).toContain(
    `message.created${two}Just now · 10 attempts · status 503`.replace('Just', 'just'),
  );
  expect(failed.visibleText).not.toContain(fine);
  const replay = `${address}/replay`;
  const single = failed.forms.find(({ fields }) =>
    fields.some(([name, value]) => name === 'delivery_id' && value === one),
  );
  if (!single) throw new Error('there is no button');
  expect((await ada.send(single)).visibleText).toContain('The event will be sent again.');
  const all = await ada.send(fillForm(failed, replay));
  expect(all.visibleText).toContain('One event will be sent again.');
  const { webhookDeliveries } = service.core.db;
  const pending = await webhookDeliveries.list(id, { before: null, state: 'pending', limit: 10 });
  expect(pending.map(({ event_id }) => event_id)).toEqual([two, one]);
});

test('it is removed after a confirmation', async () => {
  const ada = await signInWithAgent(service);
  const { address } = await createWebhook(ada);
  const confirm = await ada.go(`${address}/remove`);
  expect(confirm.visibleText).toContain('Remove Night job?');
  const done = await ada.send(findForm(confirm, `${address}/remove`));
  expect(done.visibleText).toMatch(/Webhook removed.*No webhooks/);
  expect((await ada.go(address)).status).toBe(404);
});

test('a webhook of another agent, even of the same person, gets the same response as a missing one', async () => {
  const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
  const { id } = await createWebhook(ada);
  const second = await ada.agent('second');
  for (const [who, agent] of [
    [eve, eve.mine],
    [ada, second],
  ] as const) {
    const home = await who.go('/console');
    for (const known of [id, 'whk_01K9ZX7R9V2W6Y8Z0A1C3E5F6G', 'nonsense']) {
      const address = `${listOf(agent)}/${known}`;
      const pages = [
        await who.go(address),
        await who.go(`${address}/deliveries`),
        await who.go(`${address}/remove`),
      ];
      for (const below of ['', '/state', '/test', '/replay', '/rotate', '/remove']) {
        const fields = { enabled: 'false', url: 'https://eve.example.com/' };
        pages.push(await who.send(fillForm(home, `${address}${below}`, fields)));
      }
      for (const page of pages)
        expect([page.status, page.visibleText.match(/No such webhook\./)?.length]).toEqual([404, 1]);
    }
  }
  expect((await service.core.db.webhooks.find(id))?.enabled).toBe(true);
});

test('one list has the failing webhooks of all agents, and Home leads to it', async () => {
  const path = '/console/webhooks';
  const [ada, bob] = [await signInWithAgent(service), await signInWithAgent(service)];
  const second = await ada.agent('second');
  expect((await ada.go(path)).visibleText).toContain('No failing webhooks');
  expect((await ada.go('/console')).text).not.toContain(`href="${path}"`);
  const [disabled, retried, fine] = [
    await createWebhook(ada, 'Night job'),
    await createWebhook({ ...ada, mine: second }, '<b>Retried</b>'),
    await createWebhook(bob, 'Of another person'),
  ];
  await service.core.db.webhooks.disable(disabled.id, 'failing', Date.now());
  await service.core.db.webhooks.disable(fine.id, 'failing', Date.now());
  await service.sql(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, attempts, next_at, last_attempt_at, last_status, last_error, created_at)
     values ($1, $2, 'message.created', 1, 'pending', 3, $3, $3, 502, 'too slow', $3)`,
    [retried.id, newId('event'), Date.now()],
  );
  const home = await ada.go('/console');
  expect(home.visibleText).toContain('Failing webhooks (2)');
  const page = await ada.go(path);
  expect(page.visibleText).toMatch(
    new RegExp(
      `Night job@${ada.mine.handle}.*Disabled.*<b>Retried</b>@${second.handle}.*status 502 · too slow.*Retrying`,
    ),
  );
  expect(page.visibleText).not.toContain('Of another person');
  const enabled = await ada.send(findForm(page, `${disabled.address}/state`));
  expect([new URL(enabled.url).pathname, enabled.visibleText.includes('Night job@')]).toEqual([path, false]);
});
