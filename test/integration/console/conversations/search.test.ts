import { describe, expect, test, vi } from 'vitest';
import { textContent } from 'domutils';
import { foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { allTestScopes, useService } from '../../../support/service.ts';
import { signInPerson } from '../signed-in-person.ts';
import { createRoles, readableThreads, sendTo, startThread } from './conversation-fixtures.ts';

const service = useService();

const path = '/console/conversations';

/** Waits until a message is in the index. */
async function untilIndexed(word: string, token: string): Promise<void> {
  const find = () => service.get({ token }, `/messages/search?q=${word}`);
  await vi.waitUntil(async () => (await find()).body.results.length > 0, { timeout: 20_000 });
}

test('a person searches the messages of all own agents, and opens one in its place', async () => {
  const ada = await signInPerson(service);
  const [one, two] = [await ada.agent('one'), await ada.agent('two')];
  const other = await service.agent();
  const first = await startThread(service, other, [one], { content: 'The blue lantern' });
  const second = await startThread(service, other, [two], { content: 'A green lantern' });
  await untilIndexed('green', other.token);
  await untilIndexed('blue', other.token);
  const found = async (query: string) => {
    const page = await ada.go(`${path}?${query}`);
    expect(page.status).toBe(200);
    return [...page.text.matchAll(/conversations\/(thd_\w{26})\?at=1&[^#"]*#msg_/g)].map(([, id]) => id);
  };
  expect(await found('q=lantern')).toEqual([second, first]);
  expect(await found('q=lantern+-green')).toEqual([first]);
  expect(await found(`q=lantern&agent=${two.id}`)).toEqual([second]);
  expect(await found(`q=lantern&counterpart=${other.handle}`)).toEqual([second, first]);
  expect(await found('q=lantern&counterpart=absent.here')).toEqual([]);
  expect(await found('q=lamp')).toEqual([]);
  const wrong = await ada.go(`${path}?q=-x`);
  expect([wrong.status, wrong.visibleText]).toEqual([400, expect.stringContaining('at least one word')]);
  const scopes = [...allTestScopes, 'conversations:read'] as const;
  const token = await service.token(one.handle, { scopes });
  const { body } = await service.get({ token }, '/search/conversations?q=lantern&limit=1');
  expect(body).toMatchObject({ results: [{ thread_id: second, snippet: 'A green **lantern**' }] });
  expect(
    (
      await service.get(
        { token },
        `/search/conversations?q=lantern&limit=1&cursor=${encodeURIComponent(body.next_cursor)}`,
      )
    ).body,
  ).toMatchObject({ results: [{ thread_id: first }] });
});

test('a result opens between its neighbours, and leads to older and newer messages', async () => {
  const ada = await signInPerson(service);
  const [mine, other] = [await ada.agent(), await service.agent()];
  const id = await startThread(service, other, [mine], { content: 'Message 1' });
  for (let number = 2; number <= 110; number += 1)
    await sendTo(service, other, id, number === 60 ? 'The osprey' : `Message ${number}`);
  await untilIndexed('osprey', other.token);
  const found = await ada.go(`${path}?q=osprey`);
  const hit = found.elements('a').find(({ attribs }) => attribs['href']?.includes('?at=60&'));
  const page = await ada.go(hit?.attribs['href'] ?? '');
  const shown = (each: PageResponse) =>
    [...each.visibleText.matchAll(/Trace of message (\d+)/g)].map(([, sequence]) => Number(sequence));
  const link = (rel: string) =>
    page.elements('a').find(({ attribs }) => attribs['rel'] === rel)?.attribs['href'] ?? '';
  const rangeOf = (each: PageResponse) => [shown(each)[0], shown(each).at(-1)];
  expect(rangeOf(page)).toEqual([35, 84]);
  // The results stay at its left.
  expect(page.visibleText).toContain('Search results');
  const current = page.elements('a').filter((each) => each.attribs['href'] === hit?.attribs['href']);
  expect(current.map(({ attribs }) => attribs['aria-current'])).toEqual(['true']);
  const named = page.elements('li').filter(({ attribs }) => attribs['class']?.split(' ').includes('named'));
  expect(named.map((each) => textContent(each))).toEqual([expect.stringContaining('The osprey')]);
  const [older, newer] = [await ada.go(link('prev')), await ada.go(link('next'))];
  expect([rangeOf(older), rangeOf(newer)]).toEqual([
    [1, 34],
    [61, 110],
  ]);
});

test('a result names the subject of its conversation and the sender', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const other = await service.agent();
  await startThread(service, other, [mine], { subject: 'Order 17', content: 'The pelican is late' });
  await untilIndexed('pelican', other.token);
  const { visibleText } = await ada.go(`${path}?q=pelican`);
  expect(visibleText).toMatch(new RegExp(`Order 17, message 1@${other.handle} · .*The pelican is late`));
});

test('what others write stays text in the results', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const other = await service.agent();
  const hostile = `heron **<script>alert(1)</script>** <b>`;
  await startThread(service, other, [mine], { content: hostile });
  await untilIndexed('heron', other.token);
  const page = await ada.go(`${path}?q=heron`);
  expect(page.visibleText).toContain('<script>alert(1)</script>');
  expect([foreignScripts(page), page.elements('b')]).toEqual([[], []]);
});

describe('a search of', () => {
  test.each(Object.entries(readableThreads))('%s finds messages in: %j', async (name, kinds) => {
    const roles = await createRoles(service);
    for (const id of Object.values(roles.threads)) await sendTo(service, roles.stranger, id, 'A kingfisher');
    await vi.waitUntil(
      async () => {
        return (await service.get(roles.stranger, '/messages/search?q=kingfisher')).body.results.length === 3;
      },
      { timeout: 20_000 },
    );
    const page = await roles.people[name as keyof typeof roles.people].go(`${path}?q=kingfisher`);
    const found = [...page.text.matchAll(/conversations\/(thd_\w{26})\?at=2&[^#"]*#msg_/g)].map(
      ([, id]) => id,
    );
    expect(found).toEqual(kinds.map((kind) => roles.threads[kind]));
  });
});
