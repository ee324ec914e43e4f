import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { createTestSettings, startService, type TestService } from '../../../support/service.ts';
import { createOrganizationOf, type SignedInPerson, signInPerson } from '../signed-in-person.ts';
import { createConversation, sendTo, startThread } from './conversation-fixtures.ts';

/** Two API processes on one database: the page is at the first, messages arrive at the second. */
let service: TestService;
let second: TestService;
beforeAll(async () => {
  const settings = await createTestSettings('postgres');
  service = await startService({ worker: false, settings });
  second = await startService({
    worker: false,
    settings: { ...settings, release: () => Promise.resolve() },
  });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

const path = '/console/conversations';

const createWorld = () => createConversation(service, 'The first word');

/** Opens a page and its live part. */
async function open(person: SignedInPerson, address: string) {
  return openLivePage(service.url, person, findLiveAddress(await person.go(address)));
}

test('a message at another process appears in the list and in the conversation', async () => {
  const { ada, other, id } = await createWorld();
  const pages = [await open(ada, path), await open(ada, `${path}/${id}`)];
  expect(pages.map(({ status, events }) => [status, events.length])).toEqual([
    [200, 0],
    [200, 0],
  ]);
  await sendTo(second, other, id, 'The second word');
  for (const page of pages) await expect.poll(page.shown).toContain('The second word');
  expect(pages[1]?.shown()).toContain('The first word');
  pages.forEach((page) => page.close());
});

test('the badges of an open conversation change with its messages', async () => {
  const { ada, mine, other, id } = await createWorld();
  const address = `${path}/${id}`;
  expect((await ada.go(address)).visibleText).toContain('Waits for your agent');
  const page = await open(ada, address);
  await sendTo(second, mine, id, 'An answer', { metadata: { expects_reply: true } });
  await expect.poll(page.shown).toContain('Waits for others');
  await second.patch(other, `/threads/${id}`, { status: 'closed' });
  await expect.poll(page.shown).toContain('Closed');
  expect(page.shown()).not.toContain('Waits for');
  page.close();
});

test('a receipt appears; the agent of an open page is neither online nor has it received anything', async () => {
  const { ada, mine, other, id } = await createWorld();
  const page = await open(ada, `${path}/${id}`);
  await sendTo(second, other, id, 'Did you see it?');
  await expect.poll(page.shown).toContain('Did you see it?');
  expect(page.shown()).toContain(`@${mine.handle} </span>stored`);
  const { body: seen } = await service.get(other, `/agents/${mine.id}`);
  expect(seen.is_online).toBe(false);
  await second.post(mine, `/threads/${id}/read`, { up_to_sequence: 2 });
  await expect.poll(page.shown).not.toContain('stored');
  page.close();
});

test('a page continues at another process from its cursor: nothing again, then only what is new', async () => {
  const { ada, other, id } = await createWorld();
  const first = await open(ada, `${path}/${id}`);
  await sendTo(service, other, id, 'Word two');
  await expect.poll(first.shown).toContain('Word two');
  const cursor = first.events.at(-1)?.id ?? '';
  first.close();
  const address = findLiveAddress(await ada.go(`${path}/${id}`));
  const next = await openLivePage(second.url, ada, address, { 'Last-Event-ID': cursor });
  await sendTo(service, other, id, 'Word three');
  await expect.poll(next.shown).toContain('Word three');
  next.close();
  const late = await openLivePage(second.url, ada, address, { 'Last-Event-ID': cursor });
  await expect.poll(late.shown).toContain('Word three');
  late.close();
});

test('line breaks in a message cannot add an event', async () => {
  const { ada, other, id } = await createWorld();
  const page = await open(ada, `${path}/${id}`);
  await sendTo(service, other, id, 'One\rid: 9\r\revent: end\rdata: x\n\nevent: end\ndata: y\r\n\r\nLast');
  await expect.poll(page.shown).toContain('Last');
  expect(page.events.map(({ type }) => type)).toEqual(page.events.map(() => 'message'));
  page.close();
});

describe('an open page ends', () => {
  const ending: [string, (world: Awaited<ReturnType<typeof createWorld>>) => Promise<unknown>][] = [
    ['when the person signs out', ({ ada }) => ada.signOut()],
    [
      'when the agent is deleted',
      async ({ mine }) => {
        const token = await service.token(mine.handle, { scopes: ['agents:write'] });
        await service.delete({ token }, `/agents/${mine.id}`);
      },
    ],
    [
      'when the agent leaves the thread',
      ({ mine, id }) => second.delete(mine, `/threads/${id}/members/${mine.id}`),
    ],
  ];
  test.each(ending)('%s', async (_, act) => {
    const world = await createWorld();
    const page = await open(world.ada, `${path}/${world.id}`);
    await act(world);
    await expect.poll(() => page.events.at(-1)?.type).toBe('end');
    await page.closed;
    await sendTo(second, world.other, world.id, 'Unseen').catch(() => undefined);
    expect(page.events.map(({ data }) => data).join()).not.toContain('Unseen');
  });

  test('when an admin leaves the organization', async () => {
    const [boss, deputy] = [await signInPerson(service), await signInPerson(service)];
    const slug = await createOrganizationOf(service, { admins: [boss, deputy] });
    const desk = await service.register({
      handle: `${slug}.desk`,
      visibility: 'public',
      inbound_policy: 'open',
    });
    const stranger = await service.agent();
    const id = await startThread(service, stranger, [desk]);
    const [list, conversation] = [await open(deputy, path), await open(deputy, `${path}/${id}`)];
    const removal = `/console/organizations/${slug}/members/${deputy.username}/remove`;
    await boss.send(findForm(await boss.go(removal), removal));
    await expect.poll(() => conversation.events.at(-1)?.type).toBe('end');
    await sendTo(second, stranger, id, 'For members only');
    // The list stays open for the agents that remain, and shows none of the organization.
    await expect.poll(list.shown).toContain('No conversations yet');
    expect(list.events.map(({ data }) => data).join()).not.toContain('For members only');
    list.close();
  });
});

test('one person has at most 30 live pages in a process', async () => {
  const { ada, id } = await createWorld();
  const address = findLiveAddress(await ada.go(`${path}/${id}`));
  const pages = await Promise.all(Array.from({ length: 31 }, () => openLivePage(service.url, ada, address)));
  expect(pages.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(1);
  pages.forEach((page) => page.close());
  await expect
    .poll(async () => {
      const again = await openLivePage(service.url, ada, address);
      again.close();
      return again.status;
    })
    .toBe(200);
});

test('pages have scripts of this origin only, with their digests; that of sign-in connects to nothing', async () => {
  const { ada, id } = await createWorld();
  const live = await ada.go(`${path}/${id}`);
  expect(live.headers.get('content-security-policy')).toContain("script-src 'self'; connect-src 'self'");
  const scripts = live.elements('script').map(({ attribs }) => attribs);
  expect(scripts.map(({ src }) => src?.replace(/\..*/, ''))).toEqual(['/assets/console']);
  for (const { src = '', integrity } of scripts) {
    const served = await ada.go(src);
    expect(served.headers.get('content-type')).toContain('text/javascript');
    expect(integrity).toBe(`sha384-${createHash('sha384').update(served.text).digest('base64')}`);
  }
  const names = ['attach', 'console', 'keys', 'live', 'copy', 'notify', 'password'];
  const files = await Promise.all(names.map((name) => readFile(`assets/${name}.js`)));
  expect(gzipSync(Buffer.concat(files)).length).toBeLessThanOrEqual(6 * 1024);
  const whole = await readFile('dist/assets/console.js');
  expect(gzipSync(whole).length).toBeLessThanOrEqual(60 * 1024);
  ada.cookies.clear();
  const plain = await ada.go('/sign-in');
  expect(plain.headers.get('content-security-policy')).not.toContain('connect-src');
  expect(plain.elements('script').map(({ attribs }) => attribs['src'])).toEqual([
    expect.stringMatching(/^\/assets\/password\.[\w-]+\.js$/),
  ]);
});

test('a stop ends live pages, without saying that they are over', async () => {
  const { ada, id } = await createWorld();
  const third = await startService({
    worker: false,
    settings: { env: service.env, release: () => Promise.resolve() },
  });
  const address = findLiveAddress(await ada.go(`${path}/${id}`));
  const page = await openLivePage(third.url, ada, address);
  await third.stop();
  await page.closed;
  expect(page.events).toEqual([]);
});
