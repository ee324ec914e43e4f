import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { textContent } from 'domutils';
import { findForm } from '../../../clients/form-browser.ts';
import { startAttachmentService, upload } from '../../attachments/setup.ts';
import { applyStoredDecisions, createOrganizationOf, signInPerson } from '../signed-in-person.ts';
import {
  addressOf,
  createPair,
  createRoles,
  post,
  roleCases,
  sendTo,
  startThread,
} from './conversation-fixtures.ts';
import { use } from '../../../support/use.ts';

const service = use(startAttachmentService);

describe('a person with the role', () => {
  const roles = use(() => createRoles(service));
  let file: string;
  beforeAll(async () => {
    const uploaded = await upload(service, roles.stranger, { bytes: Buffer.from('a list') });
    file = uploaded.body.id;
    await sendTo(service, roles.stranger, roles.threads.personal, 'See the file', { attachment_ids: [file] });
    const read = () => service.get(roles.stranger, `/attachments/${file}`);
    await vi.waitUntil(async () => (await read()).body.scan_status === 'clean', { timeout: 20_000 });
  });

  test.each(roleCases)('%s opens the thread of a %s agent: %s', async (name, kind, isReadable) => {
    const person = roles.people[name];
    const address = addressOf(roles.threads[kind]);
    for (const path of [address, `${address}/raw`]) {
      const page = await person.go(path);
      expect([path, page.status]).toEqual([path, isReadable ? 200 : 404]);
      expect(page.text.includes('Hello there')).toBe(isReadable);
    }
    const download = await person.go(`${address}/files/${file}`, { follow: false });
    const hasFile = kind === 'personal' && isReadable;
    expect(download.status).toBe(hasFile ? 302 : 404);
  });

  test('none gets the same page as for a thread that does not exist', async () => {
    const { outsider } = roles.people;
    const texts = await Promise.all(
      [roles.threads.shared, 'thd_00000000000000000000000000', 'nonsense', '%00'].map(async (id) =>
        (await outsider.go(addressOf(id))).visibleText.replace(/Request id: .*/, ''),
      ),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('No such conversation, or you cannot read it.');
  });
});

test('shows sender, owner, relation, day, receipts and answers', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { subject: 'Order 7', content: 'Where is it?' });
  const { id: first } = (await service.get(mine, `/threads/${id}/messages`)).body.messages[0];
  const before = await ada.go(addressOf(id));
  expect(before.title).toContain('Order 7');
  expect(before.visibleText).toContain(`@${mine.handle} stored`);
  await service.post(mine, `/threads/${id}/read`, { up_to_sequence: 1 });
  await sendTo(service, mine, id, '**Under way** since [today](https://example.com)', {
    content_type: 'markdown',
    reply_to: first,
    metadata: { no_reply_expected: true },
  });
  const page = await ada.go(addressOf(id));
  const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(Date.now());
  expect(page.visibleText).toMatch(
    new RegExp(
      `${today}.*@${other.handle}.*Not a contact.*Where is it\\?.*@${mine.handle} read.*@${mine.handle}.*Your agent.*Answers @.* Where is it\\?.*Under way since today.*Expects no reply`,
    ),
  );
  expect(page.elements('strong').map((each) => each.children.length)).not.toEqual([]);
  expect(page.links).toContain(`#${first}`);
  expect(page.elements('li').map(({ attribs }) => attribs['id'])).toContain(first);
  expect(page.visibleText).toContain(`owner ${other.handle.split('.')[0]}, verified`);
  const raw = await ada.go(`${addressOf(id)}/raw`);
  expect(raw.headers.get('content-type')).toContain('application/json');
  expect(JSON.parse(raw.text)).toMatchObject({
    conversation: { thread_id: id, waiting: null },
    messages: [{ content: 'Where is it?', relationship: 'none' }, { reply_expected: false }],
  });
});

test("times are in the reader's zone, or labelled UTC", async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'Hello' });
  const at = Date.UTC(2026, 5, 30, 23, 26);
  await service.sql('update messages set created_at = $2 where thread_id = $1', [id, at]);
  const shown = async () => (await ada.go(addressOf(id))).visibleText;
  expect(await shown()).toMatch(/Tuesday,? 30 June 2026 UTC.*23:26 UTC/);
  ada.cookies.set('ams_zone', { value: 'Asia%2FKolkata', path: '/' });
  expect(await shown()).toMatch(/Wednesday,? 1 July 2026.*04:56/);
  expect(await shown()).not.toContain('UTC');
  ada.cookies.set('ams_zone', { value: 'Mars%2FOlympus', path: '/' });
  expect(await shown()).toContain('23:26 UTC');
  const choose = `insert into notification_settings (account_id, digest_after, time_zone) values ($1, 0, 'America/New_York')`;
  await service.sql(choose, [ada.person.account_id]);
  expect(await shown()).toMatch(/30 June 2026.*19:26/);
  ada.cookies.set('ams_zone', { value: 'Asia%2FKolkata', path: '/' });
  await service.sql("update notification_settings set time_zone = 'UTC' where account_id = $1", [
    ada.person.account_id,
  ]);
  expect(await shown()).toMatch(/30 June 2026.*23:26/);
});

test('names of public agents are links to their cards; others are not', async () => {
  const { ada, mine, other } = await createPair(service);
  const thread = await startThread(service, other, [mine], { content: 'Hello' });
  const links = async () => (await ada.go(addressOf(thread))).links;
  const cardOf = ({ handle }: { handle: string }) => `/v1/agents/${handle.replace('.', '/')}/card`;
  expect(await links()).toContain(cardOf(other));
  const card = await ada.go(cardOf(other));
  expect([card.status, card.visibleText.includes(`@${other.handle}`)]).toEqual([200, true]);
  await service.sql(`update agents set visibility = 'private' where id = $1`, [other.id]);
  expect(await links()).not.toContain(cardOf(other));
  expect((await ada.go(cardOf(other))).status).toBe(404);
});

test('messages of one sender are a run with one heading, and one receipt for those that got equally far', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'One' });
  for (const content of ['Two', 'Three', 'Four']) await sendTo(service, other, id, content);
  await service.post(mine, `/threads/${id}/read`, { up_to_sequence: 2 });
  await sendTo(service, mine, id, 'An answer');
  const messages = (await ada.go(addressOf(id)))
    .elements('li')
    .filter(({ attribs }) => attribs['class']?.includes('message'));
  const texts = messages.map((each) => textContent(each).replace(/\d\d:\d\d UTC.*message \d(?=[A-Z])/, ''));
  expect(texts).toEqual([
    expect.stringMatching(/Not a contactOne$/),
    `Two@${mine.handle} read`,
    'Three',
    `Four@${mine.handle} stored`,
    expect.stringMatching(/Your agent.*An answer@.* stored$/),
  ]);
});

test('a long message is cut, and shown whole on request', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: `${'word '.repeat(4_000)}The end` });
  const page = await ada.go(addressOf(id));
  expect(page.visibleText).not.toContain('The end');
  const link = page.elements('a').find(({ attribs }) => attribs['href']?.includes('whole='));
  expect((await ada.go(link?.attribs['href'] ?? '')).visibleText).toContain('The end');
});

test('files show their scan state and a preview, and can be downloaded when clean', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine]);
  const { body: file } = await upload(service, other, { bytes: Buffer.from('First line of the list') });
  await sendTo(service, other, id, 'See the file', { attachment_ids: [file.id] });
  const address = `${addressOf(id)}/files/${file.id}`;
  const visible = async () => (await ada.go(addressOf(id))).visibleText;
  await expect.poll(visible).toContain('Checked');
  const page = await ada.go(addressOf(id));
  expect(page.visibleText).toContain('First line of the list');
  expect(page.links).toContain(address);
  const download = await ada.go(address, { follow: false });
  expect([download.status, download.headers.get('location')]).toEqual([
    302,
    expect.stringContaining('/blobs/'),
  ]);
  expect((await ada.go(`${addressOf(id)}/files/att_00000000000000000000000000`)).status).toBe(404);
});

test('an approval about another member is in line, and decided there', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'Shall we be contacts?' });
  const detail = { message: 'We have talked', client_name: 'Quill' };
  const question = { agent_id: mine.id, action: 'request_contact', target: other.handle, detail } as const;
  const approval = await service.write((work) => openApproval(work, question));
  const page = await ada.go(addressOf(id));
  expect(page.visibleText).toMatch(
    /Shall we be contacts\?.*Pending.*wants to send a contact request.*We have talked/,
  );
  await ada.send(findForm(page, `/console/approvals/${approval?.id}`), { button: 'deny' });
  await applyStoredDecisions(service);
  expect((await ada.go(addressOf(id))).visibleText).toMatch(/Denied.*wants to send a contact request/);
});

test('what others write cannot leave its place, in any field', async () => {
  const { ada, mine, other } = await createPair(service);
  const hostile = `"'></li></ol><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>`;
  await service.patch(other, '/agents/me', { display_name: hostile.slice(0, 100) });
  const id = await startThread(service, other, [mine], { subject: hostile, content: hostile });
  const { body: file } = await upload(service, other, {
    bytes: Buffer.from(hostile),
    name: '<img src=x onerror=alert(1)>.txt',
  });
  const markdown = `${hostile}\n\n[x](javascript:alert(1)) ![x](https://evil.example/x.png) <iframe src=//evil.example>`;
  await sendTo(service, other, id, markdown, { content_type: 'markdown', attachment_ids: [file.id] });
  await sendTo(service, other, id, '\u202Eabc\u0007', { metadata: { erased: hostile } });
  await expect.poll(async () => (await ada.go(addressOf(id))).visibleText).toContain('Checked');
  const page = await ada.go(addressOf(id));
  expect([page.elements('iframe'), page.elements('style')]).toEqual([[], []]);
  expect(page.elements('script').every(({ attribs }) => attribs['src']?.startsWith('/assets/'))).toBe(true);
  const sources = page.elements('img').map(({ attribs }) => attribs['src']);
  expect(sources.filter((source) => !/^\/(?:assets|console)\//.test(source ?? ''))).toEqual([]);
  const links = page.links;
  expect(links.filter((link) => /^\s*javascript:/i.test(link))).toEqual([]);
  expect(page.elements('ol').filter(({ attribs }) => attribs['id'] === 'messages')).toHaveLength(1);
  expect(page.visibleText).toContain(hostile);
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  const raw = await ada.go(`${addressOf(id)}/raw`);
  expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
});

test('an admin who is demoted no longer reads the shared agents', async () => {
  const [boss, deputy] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [boss, deputy] });
  const desk = await service.register({
    handle: `${slug}.desk`,
    visibility: 'public',
    inbound_policy: 'open',
  });
  const id = await startThread(service, await service.agent(), [desk]);
  expect((await deputy.go(addressOf(id))).status).toBe(200);
  const role = `/console/organizations/${slug}`;
  await service.write(async (work) => {
    const organization = await work.db.memberships.find(boss.person.account_id, slug);
    await work.db.owners.putMember(organization?.id ?? '', deputy.person.account_id, 'member', Date.now());
  });
  expect((await deputy.go(role)).status).toBe(200);
  expect((await deputy.go(addressOf(id))).status).toBe(404);
});

test('a member who left a thread no longer reads it', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine, await service.agent()]);
  expect((await ada.go(addressOf(id))).status).toBe(200);
  await service.delete(mine, `/threads/${id}/members/${mine.id}`);
  expect((await ada.go(addressOf(id))).status).toBe(404);
  await post(service, other, `/threads/${id}/members`, { handle: mine.handle });
  expect((await ada.go(addressOf(id))).status).toBe(200);
});
