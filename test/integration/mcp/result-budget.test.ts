import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { fitsResult, maxResultBytes } from '../../../src/transports/mcp/tools/result-budget.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';

const service = useSharedService();
let me: TestAgent;
let token: string;
beforeAll(async () => {
  me = await service.agent();
  token = await service.token(me.handle, { audience: 'mcp' });
});

const call = (name: string, args: object) => callToolRaw(service.url, token, name, args);

const words = 'The übliche réunion is on Tuesday, at 10:30 — “bring” the Entwürfe.\n';
const texts: [string, string, number][] = [
  ['plain words', words, 60_000],
  ['Cyrillic words', 'Встреча во вторник, в половине одиннадцатого. ', 60_000],
  ['Chinese', '星期二上午十点半开会，请带上草稿。', 32_768],
  ['Japanese', '会議は火曜日の10時半です。', 32_768],
  ['base64', randomBytes(3_000).toString('base64'), 32_768],
  ['hashes', `${randomBytes(32).toString('hex')}\n`, 32_768],
  ['emoji', '🎉 yes 🎉🎉 ', 32_768],
];

test.each(texts)('the budget of %s', (_name, text, budget) => {
  expect(maxResultBytes(text.repeat(200))).toBe(budget);
});

test('a quarter of a result can be other than plain words', () => {
  const result = (dense: number) => 'w '.repeat((50_000 - dense) / 2) + 'ab12'.repeat(dense / 4);
  expect([fitsResult(result(12_000)), fitsResult(result(13_000))]).toEqual([true, false]);
  expect(fitsResult('w '.repeat(30_001))).toBe(false);
});

describe('a result that is too long names the exact call for the rest', () => {
  test.each(texts)('of %s', async (_name, text, budget) => {
    const friend = await service.agent();
    const { value: thread } = await call('create_thread', { with_handle: friend.handle });
    const thread_id = thread['id'];
    let content = text;
    while (Buffer.byteLength(content + text) <= 32_000) content += text;
    for (let sent = 0; sent < 3; sent += 1) await call('send_message', { thread_id, content });

    const page = await call('get_thread', { thread_id });
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(budget);
    expect(page.value).toMatchObject({ truncated: true, earlier: false });
    const [first] = Object(page.value['messages']) as { sequence: number; content: string }[];
    const [, tool = '', args = ''] =
      /^(\w+) with (\{.*?\}) returns/.exec(String(page.value['read_the_rest'])) ?? [];
    expect([tool, JSON.parse(args)]).toEqual([
      'get_thread',
      { thread_id, message_limit: 1, before_sequence: (first?.sequence ?? 0) + 1 },
    ]);
    const rest = await call(tool, JSON.parse(args));
    expect(rest.value).not.toHaveProperty('truncated');
    expect(rest.value).toMatchObject({ messages: [{ sequence: first?.sequence, content }] });

    // Events are cut by the same rule, and the rest is the same call.
    const asFriend = await service.token(friend.handle, { audience: 'mcp' });
    const read = await callToolRaw(service.url, asFriend, 'wait_for_events', {
      cursor: 'earliest',
      types: ['message.created'],
      thread_id,
      wait_seconds: 0,
    });
    // The feed fields are added after the cut.
    expect(Buffer.byteLength(read.text)).toBeLessThanOrEqual(budget + 100);
    expect(read.value['read_the_rest']).toContain(
      JSON.stringify({ thread_id, message_limit: 1, before_sequence: 2 }),
    );
  });
});

test('a card, which no other call returns, is whole', async () => {
  const card = '星'.repeat(10_900);
  expect((await call('update_my_card', { card_body: card })).isError).toBe(false);
  expect((await call('get_agent_card', { handle: me.handle })).value).toMatchObject({ card });
});
