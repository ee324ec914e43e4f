import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { decideAsPerson } from '../../../src/services/approvals/approvals.ts';
import { refuseMail } from '../../support/servers/mail-server.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { fillForm } from '../console/signed-in-person.ts';
import { page, submit, useNotifications, waitUntil } from './setup.ts';

const setup = useNotifications({ pacing: { gatherMs: 2_000 } });

const deny = (account_id: string, id: string) =>
  setup.service.write((work) => decideAsPerson(work, account_id, id, 'denied'));

describe('a webhook', () => {
  test('is signed with the secret that was shown once, and names what waits', async () => {
    const ada = await setup.person();
    const { path, secret } = await setup.turnWebhookOn(ada);
    expect((await ada.go(page)).text).not.toContain(secret);
    const id = await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
    const [post] = setup.receiver.postsAt(path);
    const headers = Object.fromEntries(
      Object.entries(post?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(secret).verify(post?.text ?? '', headers)).toEqual({
      type: 'notification',
      created_at: expect.any(Number),
      items: [
        {
          kind: 'approval',
          agent: ada.own.handle,
          text: expect.stringContaining(`(@${ada.own.handle}) wants to send a contact request to @`),
          since: expect.any(Number),
          url: `http://localhost:3000/console/approvals/${id}`,
        },
      ],
    });
    await waitUntil(async () => (await ada.go(page)).visibleText).toContain('Last message');
  });

  test('must be an allowed address', async () => {
    const ada = await setup.person();
    const refused = [
      '',
      'nothing',
      'ftp://receiver.example',
      'https://10.0.0.1/x',
      'http://192.168.1.1/',
      'https://a:b@c.example/',
    ];
    await refused.reduce(async (before, url) => {
      await before;
      const answer = await submit(ada, 'webhook', { fields: { url } });
      expect([url, answer.status]).toEqual([url, 400]);
    }, Promise.resolve());
    expect(await setup.count('notification_channels', ada)).toBe(0);
  });

  test('that answers 410 is turned off, and the page says so', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    setup.receiver.setHandler((response, post) =>
      respondWith(post.path === path ? 410 : 204)(response, post),
    );
    await setup.ask(ada);
    await waitUntil(async () => (await ada.go(page)).visibleText).toContain('answered with status 410');
    expect(await setup.count('notification_messages', ada)).toBe(0);
  });

  test('that is slow delays its own messages only, and a failed attempt is repeated with the same id', async () => {
    const [slow, ada] = [await setup.person(), await setup.person()];
    const [slowHook, hook] = [await setup.turnWebhookOn(slow), await setup.turnWebhookOn(ada)];
    const address = await setup.turnMailOn(slow);
    let attempts = 0;
    setup.receiver.setHandler((response, post) => {
      if (post.path === slowHook.path) return;
      attempts += post.path === hook.path ? 1 : 0;
      respondWith(attempts === 1 ? 503 : 204)(response, post);
    });
    await setup.ask(slow);
    await waitUntil(() => setup.receiver.postsAt(slowHook.path).length).toBe(1);
    await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(hook.path).length).toBe(2);
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    const ids = setup.receiver.postsAt(hook.path).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    expect(setup.receiver.postsAt(slowHook.path)).toHaveLength(1);
    setup.receiver.setHandler(respondWith(204));
  });
});

describe('a message', () => {
  test('is given up after its attempts, also if workers died in them', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    setup.receiver.setHandler(() => undefined);
    const text =
      'update notification_messages set next_at = 1, attempts = 99 where account_id = $1 returning id';
    await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
    expect(await setup.service.sql(text, [ada.person.account_id])).toHaveLength(1);
    await waitUntil(() => setup.count('notification_messages', ada)).toBe(0);
    expect(setup.receiver.postsAt(path)).toHaveLength(1);
    setup.receiver.setHandler(respondWith(204));
  });

  test('whose secret was sealed with another SECRET_KEY is not sent, and the page says what to do', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    const text = `update notification_channels set secret = '\\x00' where account_id = $1`;
    await setup.service.sql(text, [ada.person.account_id]);
    await setup.ask(ada);
    await waitUntil(async () => (await ada.go(page)).visibleText).toContain(
      'cannot be read; save the URL again',
    );
    expect(await setup.count('notification_messages', ada)).toBe(0);
    expect(setup.receiver.postsAt(path)).toEqual([]);
  });
});

describe('an item', () => {
  test('that is answered before the message is sent causes none', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    await deny(ada.person.account_id, await setup.ask(ada));
    const later = await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
    expect(setup.receiver.postsAt(path)[0]?.json.items).toHaveLength(1);
    expect(setup.receiver.postsAt(path)[0]?.text).toContain(later);
  });

  test('that is answered before another attempt causes none', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    setup.receiver.setHandler((response, post) =>
      respondWith(post.path === path ? 503 : 204)(response, post),
    );
    const id = await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
    await deny(ada.person.account_id, id);
    await waitUntil(() => setup.count('notification_messages', ada)).toBe(0);
    expect(setup.receiver.postsAt(path).length).toBeLessThan(4);
    setup.receiver.setHandler(respondWith(204));
  });

  test('is found by the sweep if the job that announces it is lost', async () => {
    const ada = await setup.person();
    const { path } = await setup.turnWebhookOn(ada);
    const id = await setup.ask(ada);
    await setup.service.sql(`delete from outbox where job = 'notice-waiting' and subject_id like $1`, [
      `%${id}`,
    ]);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
  });
});

const threeDays = 3 * 86_400_000;

async function failSince(person: { account_id: string }, at: number): Promise<void> {
  const text = `update notification_channels set failed_since = $2 where account_id = $1`;
  await setup.service.sql(text, [person.account_id, at]);
}

describe('a mail server', () => {
  test('that refuses the address: the page shows the error, and the message is not repeated', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    setup.mailServer.setHandler((mail) =>
      mail.recipients.includes(address) ? refuseMail(554)(mail) : undefined,
    );
    await setup.ask(ada);
    await waitUntil(async () => (await ada.go(page)).visibleText).toContain('refused the message (554)');
    await waitUntil(() => setup.count('notification_messages', ada)).toBe(0);
    setup.mailServer.setHandler(() => undefined);
  });

  test('that failed three days ago and once more: e-mail stays on if the message arrives then', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    await failSince(ada.person, Date.now() - threeDays);
    let refused = 0;
    setup.mailServer.setHandler((mail) => {
      const isFirst = mail.recipients.includes(address) && (refused += 1) === 1;
      return isFirst ? refuseMail(451)(mail) : undefined;
    });
    await setup.ask(ada);
    await waitUntil(() => setup.itemMails(address)).toHaveLength(2);
    await waitUntil(() => setup.count('notification_messages', ada)).toBe(0);
    expect((await ada.go(page)).visibleText).toContain('E-mailOn');
    setup.mailServer.setHandler(() => undefined);
  });

  test.each([451, 554])('that fails for three days (%i): e-mail is turned off', async (code) => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    setup.mailServer.setHandler((mail) =>
      mail.recipients.includes(address) ? refuseMail(code)(mail) : undefined,
    );
    await failSince(ada.person, Date.now() - threeDays);
    await setup.ask(ada);
    await waitUntil(async () => (await ada.go(page)).visibleText).toContain(
      'no message arrived for three days',
    );
    expect(await setup.count('notification_messages', ada)).toBe(0);
    setup.mailServer.setHandler(() => undefined);
    // The person turns it on again.
    await setup.turnMailOn(ada, `again-${address}`);
    expect((await ada.go(page)).visibleText).toContain('E-mailOn');
  });
});

describe('the settings', () => {
  test('send a test message', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    const { path } = await setup.turnWebhookOn(ada);
    const settings = await ada.go(page);
    await ada.send(fillForm(settings, `${page}/test`, { channel: 'email' }));
    await ada.send(fillForm(settings, `${page}/test`, { channel: 'webhook' }));
    await waitUntil(() => setup.itemMails(address).map(({ subject }) => subject)).toEqual(['Test message']);
    await waitUntil(() => setup.receiver.postsAt(path).map(({ json }) => json.type)).toEqual([
      'notification.test',
    ]);
    const off = await ada.send(fillForm(settings, `${page}/off`, { channel: 'webhook' }));
    expect(off.visibleText).toContain('Turned off.');
    const refused = await ada.send(fillForm(settings, `${page}/test`, { channel: 'webhook' }));
    expect(refused.visibleText).toContain('This channel is off.');
    const wrong = await ada.send(fillForm(settings, `${page}/test`, { channel: 'pigeon' }));
    expect(wrong.visibleText).toContain('must be email or webhook');
  });

  test('of another person are invisible and stay as they are', async () => {
    const [ada, eve] = [await setup.person(), await setup.person()];
    const address = await setup.turnMailOn(ada);
    const { path } = await setup.turnWebhookOn(ada);
    const shown = await eve.go(page);
    expect(shown.text).not.toContain(address);
    expect(shown.text).not.toContain(path);
    await eve.send(fillForm(shown, `${page}/off`, { channel: 'webhook', account_id: ada.person.account_id }));
    await eve.send(fillForm(shown, `${page}/timing`, { timing: 'daily', hour: '3', time_zone: 'UTC' }));
    const own = (await ada.go(page)).visibleText;
    expect(own).toContain('WebhookOn');
    // Eve is not told what waits for Ada.
    const { path: evesPath } = await setup.turnWebhookOn(eve);
    await setup.ask(ada);
    await waitUntil(() => setup.receiver.postsAt(path).length).toBe(1);
    expect(setup.receiver.postsAt(evesPath)).toEqual([]);
  });

  test('with wrong values are shown again', async () => {
    const ada = await setup.person();
    const wrong = [
      { timing: 'never', hour: '1', time_zone: 'UTC' },
      { timing: 'daily', hour: '24', time_zone: 'UTC' },
      { timing: 'daily', hour: '', time_zone: 'UTC' },
      { timing: 'daily', hour: '1', time_zone: 'Nowhere/City' },
    ];
    await wrong.reduce(async (before, fields) => {
      await before;
      expect((await submit(ada, 'timing', { fields })).status).toBe(400);
    }, Promise.resolve());
    const saved = await submit(ada, 'timing', {
      fields: { timing: 'daily', hour: '7', time_zone: 'Asia/Tokyo' },
    });
    expect(saved.visibleText).toContain('Saved.');
    expect(saved.text).toContain('value="Asia/Tokyo"');
  });
});
