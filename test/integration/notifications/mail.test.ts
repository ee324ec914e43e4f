import { describe, expect, test } from 'vitest';
import { startThread } from '../console/conversations/conversation-fixtures.ts';
import { findForm } from '../../clients/form-browser.ts';
import { findLink, page, submit, useNotifications, waitUntil } from './setup.ts';

const setup = useNotifications();

describe('e-mail', () => {
  test('is off until the link in the first message is used, which works once', async () => {
    const ada = await setup.person();
    const address = `${ada.username}@mail.example`;
    expect((await ada.go(page)).visibleText).toContain('E-mailOff');
    expect(await setup.count('notification_settings', ada)).toBe(0);
    const answer = await submit(ada, 'email', { fields: { email: address } });
    expect(answer.visibleText).toContain('The address is not confirmed yet.');
    await waitUntil(() => setup.mailServer.mailsTo(address).length).toBe(1);
    const [mail] = setup.mailServer.mailsTo(address);
    const path = findLink(mail?.text ?? '', 'confirm');
    const token = path.split('/').at(-1) ?? '';
    const stored = await setup.service.sql<{ row: string }>(
      `select row_to_json(c)::text as row from notification_channels c where account_id = $1`,
      [ada.person.account_id],
    );
    expect(stored[0]?.row).not.toContain(token);
    await setup.ask(ada);
    // Opening the link changes nothing and signs no one in.
    const stranger = await setup.person();
    const anonymous = { ...stranger, cookies: stranger.cookies };
    anonymous.cookies.clear();
    const shown = await anonymous.go(path);
    expect(shown.visibleText).toContain(
      `The account ${ada.username} asks to send notifications to ${address}.`,
    );
    expect(await setup.count('notification_messages', ada)).toBe(0);
    expect((await anonymous.send(findForm(shown, path))).title).toContain('Address confirmed');
    expect([...anonymous.cookies.keys()]).not.toContain('ams_session');
    expect((await anonymous.go(path)).status).toBe(404);
    expect((await anonymous.send(findForm(shown, path))).status).toBe(404);
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    expect((await ada.go(page)).visibleText).toContain('E-mailOn');
  });

  test('an expired link does not work', async () => {
    const ada = await setup.person();
    const address = `${ada.username}@mail.example`;
    await submit(ada, 'email', { fields: { email: address } });
    await waitUntil(() => setup.mailServer.mailsTo(address).length).toBe(1);
    const path = findLink(setup.mailServer.mailsTo(address)[0]?.text ?? '', 'confirm');
    const shown = await ada.go(path);
    const text = 'update notification_channels set token_expires_at = 1 where account_id = $1';
    await setup.service.sql(text, [ada.person.account_id]);
    expect((await ada.send(findForm(shown, path))).status).toBe(404);
    expect((await ada.go(page)).visibleText).toContain('E-mailOff');
  });

  test('ten approvals are one message, with kind, age and link, and without the texts of others', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    const ids = await Promise.all(Array.from({ length: 10 }, () => setup.ask(ada)));
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    const [mail] = setup.itemMails(address);
    expect(mail?.subject).toBe('10 items wait for you');
    expect(mail?.recipients).toEqual([address]);
    expect(mail?.from?.address).toBe('ams@sender.example');
    expect(
      ids.filter((id) => !mail?.text?.includes(`http://localhost:3000/console/approvals/${id}\n`)),
    ).toEqual([]);
    expect(mail?.text).toContain('Approval, just now');
    expect(mail?.text).toContain(`(@${ada.own.handle}) wants to send a contact request`);
    expect(mail?.html).toContain(`<a href="http://localhost:3000/console/approvals/${ids[0]}">`);
    expect(mail?.source).not.toContain('A text that stays on the page');
    const one = await setup.ask(ada);
    await waitUntil(() => setup.itemMails(address).length).toBe(2);
    expect(setup.itemMails(address)[1]?.text).toContain(one);
    expect(setup.itemMails(address)[1]?.text).not.toContain(ids[0]);
    expect(await setup.count('notification_items', ada)).toBe(11);
  });

  test('names the subject of a question to a person, and not its text', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    const other = await setup.service.agent();
    const subject = 'Where is\r\nBcc: eve@evil.example the key?';
    const id = await startThread(setup.service, other, [ada.own], {
      subject: subject.replaceAll(/[\r\n]+/g, ' '),
      content: 'The secret question',
      metadata: { asks_person: true },
    });
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    const [mail] = setup.itemMails(address);
    expect(mail?.text).toContain('Asks a person, just now');
    expect(mail?.text).toContain(`http://localhost:3000/console/conversations/${id}`);
    expect(mail?.source).not.toContain('The secret question');
    expect(mail?.bcc ?? []).toEqual([]);
    expect(mail?.recipients).toEqual([address]);
  });

  test('a hostile name changes neither headers nor markup', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    const name = `<b>Eve</b>"'&\u202Eevil\u200B <x@evil.example>`;
    await setup.service.sql('update agents set display_name = $2 where id = $1', [
      ada.own.id,
      `${name}\r\nBcc: victim@evil.example\r\n\r\n<script>`,
    ]);
    await setup.ask(ada);
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    const [mail] = setup.itemMails(address);
    expect(mail?.subject).toContain('<b>Eve</b>"\'&evil <x@evil.example> Bcc: victim@evil.example <script>');
    expect(mail?.bcc ?? []).toEqual([]);
    expect(mail?.recipients).toEqual([address]);
    expect(mail?.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
    expect(mail?.html).toContain('&lt;b&gt;Eve&lt;/b&gt;&quot;&#39;&amp;evil');
    expect(mail?.html).not.toContain('<script>');
    expect(mail?.text).not.toMatch(/[\u202E\u200B]/);
  });

  test('addresses that are lists or hold line breaks are refused', async () => {
    const ada = await setup.person();
    const wrong = [
      '',
      'ada',
      'ada@a.example, eve@b.example',
      'ada@a.example\r\nBcc: eve@b.example',
      `${'a'.repeat(250)}@b.example`,
    ];
    await wrong.reduce(async (before, email) => {
      await before;
      const answer = await submit(ada, 'email', { fields: { email } });
      expect([email, answer.status]).toEqual([email, 400]);
      expect(answer.visibleText).toContain('must be an e-mail address');
    }, Promise.resolve());
    expect(await setup.count('notification_channels', ada)).toBe(0);
  });
});

describe('the unsubscribe link', () => {
  test('turns e-mail off with one POST without a session, and repeating it changes nothing', async () => {
    const ada = await setup.person();
    const address = await setup.turnMailOn(ada);
    await setup.ask(ada);
    await waitUntil(() => setup.itemMails(address).length).toBe(1);
    const headers = new Map(setup.itemMails(address)[0]?.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const path = findLink(headers.get('list-unsubscribe') ?? '', 'unsubscribe');
    const post = () =>
      fetch(new URL(path, setup.service.url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'List-Unsubscribe=One-Click',
      });
    const opened = await fetch(new URL(path, setup.service.url));
    expect(opened.status).toBe(200);
    expect(await opened.text()).toContain('Turn off e-mails</button>');
    expect((await ada.go(page)).visibleText).toContain('E-mailOn');
    const answer = await post();
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null]);
    const off = (await ada.go(page)).visibleText;
    expect(off).toContain('It was turned off by the link in an e-mail.');
    expect((await post()).status).toBe(200);
    expect((await ada.go(page)).visibleText).toBe(off);
    // A link for an earlier address does not turn a new one off.
    await setup.turnMailOn(ada, `new-${address}`);
    expect((await post()).status).toBe(200);
    expect((await ada.go(page)).visibleText).toContain('E-mailOn');
    const forged = `${path.slice(0, -4)}AAAA`;
    expect((await fetch(new URL(forged, setup.service.url), { method: 'POST' })).status).toBe(404);
  });
});
