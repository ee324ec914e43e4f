import { describe, expect, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { findLiveAddress, openLivePage } from '../../clients/live-page.ts';
import { startAttachmentService, upload } from '../attachments/setup.ts';
import { sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';
import { createWatchedWorld, openAsStranger, share } from './setup.ts';
import { use } from '../../support/use.ts';

const service = use(() => startAttachmentService());

const open = (path: string) => openAsStranger(service, path);
const follow = async (path: string) =>
  openLivePage(service.url, { cookies: new Map() }, findLiveAddress(await open(path)));

/** A text that opens and closes everything on its way. */
const hostile = `"'></li></ol><script>alert(1)</script><img src=x onerror=alert(1)><a href="/console">x</a>`;

test('somebody without an account reads the conversation, and gets nothing else', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  await sendTo(service, mine, thread, 'An answer', { metadata: { internal: 'a note for agents' } });
  const path = await share(ada, thread, mine);
  const page = await open(path);
  expect(page.status).toBe(200);
  expect(page.visibleText).toMatch(/Parts.*The first word.*An answer/s);
  expect(page.visibleText).toContain(`through a link of @${mine.handle}`);
  expect(page.visibleText).toContain(`@${other.handle}`);
  for (const hidden of [
    'a note for agents',
    'stored',
    'delivered',
    'Not a contact',
    'Your agent',
    ada.username + '@',
  ])
    expect(page.text).not.toContain(hidden);
  expect(page.forms).toEqual([]);
  const links = page.links;
  expect(links.filter((link) => !link.startsWith('#') && !link.startsWith(path))).toEqual([]);
});

test('no search engine, referrer, cookie, cache or script of others gets the address', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  for (const each of [path, '/watch/unknown', `${path}/files/att_00000000000000000000000000`]) {
    const { headers } = await open(each);
    const seen = ['x-robots-tag', 'referrer-policy', 'cache-control', 'x-frame-options', 'set-cookie'];
    expect(seen.map((name) => headers.get(name))).toEqual([
      'noindex',
      'no-referrer',
      'no-store',
      'DENY',
      null,
    ]);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  }
});

test('a person who is signed in sees the same page, without what belongs to the session', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  const [own, foreign] = [await ada.go(path), await open(path)];
  expect(own.text).toBe(foreign.text);
  expect(own.text).not.toContain('"/console');
});

test('older messages are on earlier pages, and a long one is shown whole', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  for (let number = 2; number <= 60; number += 1) await sendTo(service, other, thread, `Number ${number}.`);
  await sendTo(service, other, thread, `${'word '.repeat(4_000)}The end`);
  const path = await share(ada, thread, mine);
  const newest = await open(path);
  expect([newest.visibleText.includes('Number 60.'), newest.visibleText.includes('Number 2.')]).toEqual([
    true,
    false,
  ]);
  const linkOf = (text: string) => {
    const link = newest
      .elements('a')
      .find(
        ({ attribs, children }) =>
          attribs['rel'] === text || JSON.stringify(children, ['data']).includes(text),
      );
    return link?.attribs['href'] ?? '';
  };
  const older = await open(linkOf('prev'));
  expect(older.visibleText).toMatch(/The first word.*Number 2\./s);
  expect(older.text).not.toContain('data-live');
  expect((await open(linkOf('whole message'))).visibleText).toContain('The end');
});

test('a message appears at once; the cursor tells nothing of other threads', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  const page = await follow(path);
  await sendTo(service, other, thread, 'Live word');
  await expect.poll(page.shown).toContain('Live word');
  const count = page.events.length;
  await startThread(service, other, [mine], { content: 'Elsewhere' });
  await sendTo(service, other, thread, 'Last word');
  await expect.poll(page.shown).toContain('Last word');
  expect(page.events.length).toBe(count + 1);
  expect(page.events.map(({ id }) => id).join()).toMatch(/^[\w-]{16}(,[\w-]{16})*$/);
  expect(page.events.map(({ data }) => data).join()).not.toContain('Elsewhere');
  page.close();
});

test('an event of another thread changes nothing of the page, and one of its own does', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  const state = async () => findLiveAddress(await open(path));
  const before = await state();
  await startThread(service, other, [mine], { content: 'Elsewhere' });
  expect(await state()).toBe(before);
  await sendTo(service, other, thread, 'Here');
  expect(await state()).not.toBe(before);
});

test('one address has only some streams of a link', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const [path, another] = [await share(ada, thread, mine), await share(ada, thread, mine)];
  const pages = await Promise.all(Array.from({ length: 10 }, () => follow(path)));
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
  expect((await follow(path)).status).toBe(429);
  const other = await follow(another);
  expect(other.status).toBe(200);
  for (const page of [...pages, other]) page.close();
  await expect.poll(async () => (await follow(path)).status).toBe(200);
});

test('watching moves no mark, no receipt and no presence of the member', async () => {
  const { ada, mine, other, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  const marks = async () => {
    const { body } = await service.get(other, `/threads/${thread}/receipts`);
    return body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === mine.id);
  };
  const before = await marks();
  const page = await follow(path);
  await sendTo(service, other, thread, 'Did you see it?');
  await expect.poll(page.shown).toContain('Did you see it?');
  expect(await marks()).toEqual(before);
  expect((await service.get(other, `/agents/${mine.id}`)).body.is_online).toBe(false);
  expect((await service.get(mine, `/threads/${thread}`)).body.unread_count).toBe(2);
  page.close();
});

describe('files', () => {
  async function createFile() {
    const world = await createWatchedWorld(service);
    const { other, thread } = world;
    const { body: file } = await upload(service, other, {
      bytes: Buffer.from('A list of parts'),
      name: 'parts.txt',
    });
    const scanned = async () => (await service.get(other, `/attachments/${file.id}`)).body.scan_status;
    await expect.poll(scanned).toBe('clean');
    const sent = await sendTo(service, other, thread, 'See the file', { attachment_ids: [file.id] });
    return { ...world, file, sent };
  }

  test('are shown and downloaded only if the link allows it', async () => {
    const { ada, mine, thread, file } = await createFile();
    const [open_, closed] = [await share(ada, thread, mine, { files: 'on' }), await share(ada, thread, mine)];
    const shown = await open(open_);
    expect(shown.visibleText).toMatch(/parts\.txt.*A list of parts/s);
    const hidden = await open(closed);
    expect(hidden.visibleText).toContain('Files are not shown.');
    for (const text of ['parts.txt', 'A list of parts', file.id]) expect(hidden.text).not.toContain(text);
    expect((await open(`${closed}/files/${file.id}`)).status).toBe(404);

    const signed = await fetch(`${service.url}${open_}/files/${file.id}`, { redirect: 'manual' });
    expect(signed.status).toBe(302);
    const { pathname, search } = new URL(signed.headers.get('location') ?? '', service.url);
    const download = await fetch(`${service.url}${pathname}${search}`);
    expect(await download.text()).toBe('A list of parts');
    expect(download.headers.get('content-disposition')).toContain('attachment');
    expect(download.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('of other threads of the member are not', async () => {
    const [one, another] = [await createFile(), await createWatchedWorld(service)];
    const elsewhere = await startThread(service, another.other, [one.mine]);
    const path = await share(one.ada, elsewhere, one.mine, { files: 'on' });
    expect((await open(`${path}/files/${one.file.id}`)).status).toBe(404);
  });

  test('and the text of a withdrawn message are gone', async () => {
    const { ada, mine, other, thread, file, sent } = await createFile();
    const path = await share(ada, thread, mine, { files: 'on' });
    const page = await follow(path);
    expect((await service.post(other, `/messages/${sent.id}/withdraw`)).status).toBe(200);
    await expect.poll(page.shown).toContain('Withdrawn by its sender.');
    const shown = await open(path);
    for (const text of ['See the file', 'parts.txt', 'A list of parts'])
      expect(shown.text).not.toContain(text);
    expect((await open(`${path}/files/${file.id}`)).status).toBe(404);
    page.close();
  });
});

test('what others write cannot leave its place, in any field', async () => {
  const { ada, mine, other } = await createWatchedWorld(service);
  await service.patch(other, '/agents/me', { display_name: hostile.slice(0, 100) });
  const thread = await startThread(service, other, [mine], { subject: hostile, content: hostile });
  const markdown = `${hostile}\n\n[x](javascript:alert(1)) [y](/console) ![x](https://evil.example/x.png) <iframe src=//evil.example>`;
  await sendTo(service, other, thread, markdown, { content_type: 'markdown', metadata: { erased: hostile } });
  await sendTo(service, other, thread, 'One\rid: 9\r\revent: end\rdata: x\n\nevent: end');
  const path = await share(ada, thread, mine, { files: 'on' });
  const page = await open(path);
  expect([page.elements('iframe'), page.elements('style')]).toEqual([[], []]);
  expect(page.elements('script').every(({ attribs }) => attribs['src']?.startsWith('/assets/watch.'))).toBe(
    true,
  );
  expect(page.elements('img').every(({ attribs }) => attribs['src']?.startsWith('/assets/'))).toBe(true);
  const links = page.links;
  expect(links.filter((link) => link !== '' && !link.startsWith('#') && !link.startsWith(path))).toEqual([]);
  expect(page.visibleText).toContain(hostile);
});

test('the page of a link cannot be used as another page, and takes no other method', async () => {
  const { ada, mine, thread } = await createWatchedWorld(service);
  const path = await share(ada, thread, mine);
  for (const rest of ['/raw', '/watch', '/withdraw', '/../../console', '/files', '/live/x'])
    expect([rest, (await open(`${path}${rest}`)).status]).toEqual([
      rest,
      rest === '/../../console' ? 200 : 404,
    ]);
  const posted = await requestRest('POST', `${service.url}${path}`, { body: { content: 'x' } });
  expect([403, 405]).toContain(posted.status);
});
