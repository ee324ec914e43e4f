import { outcomeOf } from '../../../clients/rest.ts';
import { beforeAll, expect, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import type { TestAgent } from '../../../support/service.ts';
import { startSearchService } from './setup.ts';
import { use } from '../../../support/use.ts';

const on = use(startSearchService);

const messages = [
  'The quick brown fox jumps over the lazy dog',
  'A brown, QUICK fox',
  'Crème brûlée à la carte',
  'Die Straße nach Łódź',
  '今日は東京都庁へ行きます',
  '東京 tower at night',
  'ภาษาไทยไม่มีช่องว่าง',
  `it's O'Reilly\\path <b>'quoted':* & | ! ()</b>`,
  'snake_case and kebab-case, mail to ann@example.com',
  'foxglove',
  'my_function_name failed: ERR_CONN_RESET in camelCaseWord',
  '스레드를 확인했습니다. 서버에서 API를 호출',
  'deployed 🎉 today 👍🏽',
];
let ann: TestAgent;

beforeAll(async () => {
  const [first, bob] = await on.createAgents();
  ann = first;
  const thread = await on.open(ann, bob);
  for (const content of messages) await on.send(bob, thread, content);
  await on.indexed();
});

test.each([
  ['every word, newest first', 'quick fox', [1, 0]],
  ['a phrase', '"quick brown fox"', [0]],
  ['a phrase over punctuation', '"brown quick"', [1]],
  ['an exclusion', 'fox -lazy', [1]],
  ['an excluded phrase', 'fox -"quick brown"', [1]],
  ['whole words only', 'fox', [1, 0]],
  ['a prefix', 'fox*', [9, 1, 0]],
  ['accents left out', 'creme brulee', [2]],
  ['accents added, other case', 'CARTÉ', [2]],
  ['sharp s and letters with strokes', 'STRASSE lodz', [3]],
  ['a part of text without spaces', '東京都', [4]],
  ['one character of it', '京', [5, 4]],
  ['two parts of it', '東京 行きます', [4]],
  ['a phrase of two scripts', '"東京 tower"', [5]],
  ['Thai', 'ไม่มี', [6]],
  ['an apostrophe', "o'reilly", [7]],
  ['operators of the query language of the database', "'quoted':* & | ! ()", [7]],
  ['a backslash', 'reilly\\path', [7]],
  ['parts of a word with punctuation', 'example.com', [8]],
  ['and no words with the same parts in another order', 'com.example', []],
  ['an identifier', 'snake_case', [8]],
  ['a word of an identifier', 'function', [10]],
  ['words of an identifier', 'my_function', [10]],
  ['an identifier of three words', 'my_function_name', [10]],
  ['an identifier in capitals', 'err_conn_reset', [10]],
  ['a part of it', 'CONN', [10]],
  ['two parts of it', 'ERR_CONN', [10]],
  ['a part in camel case', 'camel', [10]],
  ['two parts in camel case', 'caseWord', [10]],
  ['the whole in small letters', 'camelcaseword', [10]],
  ['the whole in a phrase', '"reset in camelCaseWord"', [10]],
  ['no parts of different identifiers', 'camelReset', []],
  ['a Korean word with a particle', '스레드', [11]],
  ['a Korean word with an ending', '확인', [11]],
  ['a Korean word with two particles', '서버', [11]],
  ['Latin letters with a particle', 'api 호출', [11]],
  ['an emoji', '🎉', [12]],
  ['an emoji in another color', '👍', [12]],
  ['a copied text of emoji', '🎉👍🏽', [12]],
  ['words on both sides of an emoji', '"deployed today"', [12]],
  ['nothing', 'absent', []],
])('%s', async (_what, q, expected) => {
  expect(await on.searchContents(ann, { q })).toEqual(expected.map((index) => messages[index]));
});

test('is returned as the message record, with its thread and a snippet', async () => {
  const [result] = await on.search(ann, { q: 'brulee' });
  const list = await on.get(ann, `/threads/${result?.thread_id}/messages`);
  const whole = list.body.messages.find(({ id }: { id: string }) => id === result?.message.id);
  expect(result).toEqual({
    thread_id: whole.thread_id,
    message: whole,
    snippet: 'Crème **brûlée** à la carte',
  });
});

test('is returned by the MCP tool too, with the relation of the senders to the reader', async () => {
  const token = await on.token(ann.handle, { audience: 'mcp' });
  const { value, isError } = await callToolRaw(on.url, token, 'search_messages', {
    query: 'lazy',
    limit: 1,
    detail: 'full',
  });
  expect(isError).toBe(false);
  const [result] = await on.search(ann, { q: 'lazy' });
  expect(value).toMatchObject({
    results: [{ ...result, message: { ...result?.message, relationship: 'none' } }],
  });
  const refused = await callToolRaw(on.url, token, 'search_messages', { query: '-lazy' });
  expect(refused).toMatchObject({ isError: true, value: { error: { code: 'VALIDATION_ERROR' } } });
  expect(refused.value).toMatchObject({ error: { message: expect.stringMatching(/^query: /) } });
});

test('an invalid query is refused by the name of its field', async () => {
  for (const [query, field] of [
    [{ q: '…' }, 'q'],
    [{ q: '-fox' }, 'q'],
    [{ q: 'a '.repeat(21) }, 'q'],
    [{ q: 'a\0b' }, 'q'],
  ] as [Record<string, string>, string][]) {
    const { status, body } = await on.ask(ann, query);
    expect([status, body.error?.code], JSON.stringify(query)).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details).toMatchObject([{ field }]);
  }
  const handle = await on.ask(ann, { q: 'fox', from: 'no handle' });
  expect(outcomeOf(handle)).toBe('400 INVALID_HANDLE');
});
