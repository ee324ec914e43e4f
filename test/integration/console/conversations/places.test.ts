import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import type { PageResponse } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { addressOf, createPair, sendTo, startThread } from './conversation-fixtures.ts';

const service = useSharedService();

/** The text of the message at which the page opens. */
const startOf = (page: PageResponse) =>
  page
    .elements('li')
    .filter(({ attribs }) => attribs['autofocus'] !== undefined)
    .map((each) => textContent(each));

test('opens at the first unread message, at its end when there is none, and at the message that a link names', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'Text 1.' });
  for (let number = 2; number <= 60; number += 1) await sendTo(service, other, id, `Text ${number}.`);
  const read = (up_to_sequence: number) => service.post(mine, `/threads/${id}/read`, { up_to_sequence });

  const unread = await ada.go(addressOf(id));
  expect(startOf(unread)).toEqual([expect.stringContaining('Text 60.')]);
  const link = unread.elements('a').find((each) => textContent(each) === 'First unread message');
  expect(startOf(await ada.go(link?.attribs['href'] ?? ''))).toEqual([expect.stringContaining('Text 1.')]);
  await read(40);
  expect(startOf(await ada.go(addressOf(id)))).toEqual([expect.stringContaining('Text 41.')]);
  await read(60);
  expect(startOf(await ada.go(addressOf(id)))).toEqual([expect.stringContaining('Text 60.')]);
  const linked = await ada.go(`${addressOf(id)}?at=7`);
  expect(startOf(linked)).toEqual([expect.stringContaining('Text 7.')]);
  expect(linked.text).toMatch(markedMessage);
});

/** One that the address names, such as a search result. */
const markedMessage = /class="message [^"]*named"/;

/** The queries of the links of a conversation by their texts. */
function linksOf(page: PageResponse) {
  const links = page.elements('a').map((each) => [textContent(each), each.attribs['href']] as const);
  return { hrefs: Object.fromEntries(links.map(([text, href]) => [text, href?.replace(/^[^?]*/, '')])) };
}

test('opens a long thread at its end, older messages by page, and a linked message in its place', async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'Number 1' });
  for (let number = 2; number <= 70; number += 1) await sendTo(service, other, id, `Number ${number}`);
  const sequences = (text: string) =>
    [...text.matchAll(/message-text"[^>]*>Number (\d+)</g)].map(([, number]) => Number(number));
  const seen: number[] = [];
  let address: string | undefined = addressOf(id);
  for (let pages = 0; address !== undefined && pages < 5; pages += 1) {
    const page = await ada.go(address);
    seen.unshift(...sequences(page.text));
    address = page.elements('a').find(({ attribs }) => attribs['rel'] === 'prev')?.attribs['href'];
  }
  expect(seen).toEqual(Array.from({ length: 70 }, (_, index) => index + 1));
  const linked = await ada.go(`${addressOf(id)}?at=30`);
  expect(sequences(linked.text)).toEqual(Array.from({ length: 50 }, (_, index) => index + 5));
  const { hrefs } = linksOf(linked);
  expect(hrefs).toMatchObject({ First: '?start=1', Older: '?before=5', Newer: '?before=105', Newest: '' });
  expect(sequences((await ada.go(`${addressOf(id)}${hrefs['Newer']}`)).text)).toContain(70);
  expect(sequences((await ada.go(`${addressOf(id)}${hrefs['First']}`)).text)[0]).toBe(1);
  for (const query of ['?before=0', '?before=-1', '?at=99999999999', '?before=%00'])
    expect(sequences((await ada.go(addressOf(id) + query)).text)).toContain(70);
  expect((await ada.go(`${addressOf(id)}?before=1`)).visibleText).toContain('No messages');
});

test("goes to the first message of a day in the reader's zone", async () => {
  const { ada, mine, other } = await createPair(service);
  const id = await startThread(service, other, [mine], { content: 'Text 1' });
  for (let number = 2; number <= 9; number += 1) await sendTo(service, other, id, `Text ${number}`);
  // One message every six hours, the first at midnight UTC.
  const day = Date.UTC(2026, 5, 10);
  const spread =
    'update messages set created_at = $2::bigint + (sequence - 1) * 21600000 where thread_id = $1';
  await service.sql(spread, [id, day]);
  const foundOn = async (date: string) => startOf(await ada.go(`${addressOf(id)}?date=${date}`));
  expect(await foundOn('2026-06-11')).toEqual([expect.stringContaining('Text 5')]);
  expect(await foundOn('2026-01-01')).toEqual([expect.stringContaining('Text 1')]);
  expect((await ada.go(`${addressOf(id)}?date=2026-01-01`)).text).not.toMatch(markedMessage);
  expect(await foundOn('2027-01-01')).toEqual([expect.stringContaining('Text 9')]);
  expect((await ada.go(`${addressOf(id)}?date=nonsense`)).status).toBe(200);
  ada.cookies.set('ams_zone', { value: 'America%2FNew_York', path: '/' });
  expect(await foundOn('2026-06-11')).toEqual([expect.stringContaining('Text 6')]);
});
