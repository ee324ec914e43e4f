import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildPart, closingBoundary, multipartType } from '../../integration/attachments/setup.ts';
import { startMeasuredApi } from './setup.ts';
import { use } from '../../support/use.ts';

const api = use(startMeasuredApi);

/** The call must succeed: a refusal would prove nothing. */
async function callTool(name: string, args: object): Promise<void> {
  const { isError } = await callToolRaw(api.url, api.mcpToken, name, args);
  expect([name, isError]).toEqual([name, false]);
}

test('header fields, query parameters and paths', async () => {
  const fields = Array.from({ length: 1_000 }, (_, index): [string, string] => [`x-${index}`, 'y']);
  await api.check('1,000 header fields', () => api.send('GET', '/v1/agents/me', fields));
  await api.check('a long Accept', () =>
    api.send('GET', '/v1/agents/me', [['Accept', '*/*;q=0.1,'.repeat(1_300)]]),
  );
  await api.check('a long Cookie', () => api.send('GET', '/console', [['Cookie', 'a=b;'.repeat(3_000)]]));
  await api.check('a long If-None-Match', () =>
    api.send('GET', '/v1/agents/me', [['If-None-Match', '"a",'.repeat(3_000)]]),
  );
  await api.check('3,000 query parameters', () => api.send('GET', `/v1/threads?${'limit=1&'.repeat(1_500)}`));
  await api.check('nested query parameters', () => api.send('GET', `/v1/threads?a${'[a]'.repeat(3_000)}=1`));
  await api.check('a long path', () => api.send('GET', `/v1/${'a/'.repeat(7_000)}`));
  await api.check('a path of escapes', () => api.send('GET', `/v1/agents/${'%E4%B8%AD'.repeat(1_500)}`));
  api.expectNoneSlow();
});

test('uploads of 10 MB', async () => {
  const size = 10_485_760;
  for (const [name, unit] of [
    ['\\r', '\r'],
    ['\\r\\n', '\r\n'],
    ['almost a boundary', '\r\n--x-file-boundar'],
    ['dashes', '\r\n--'],
    ['zeros', '\0'],
    ['XML', '<a>'],
    ['a zip of empty names', 'PK\u0001\u0002'],
  ] as const) {
    for (const [type, extension] of [
      ['text/plain', 'txt'],
      ['application/octet-stream', 'bin'],
    ] as const) {
      const bytes = Buffer.from(unit.repeat(Math.floor(size / unit.length)));
      await api.check(`a part of ${name} as ${type}`, () => {
        const body = Buffer.concat([buildPart({ name: `a.${extension}`, type, bytes }), closingBoundary]);
        return api.send(
          'POST',
          '/v1/attachments',
          [
            ['Content-Type', multipartType],
            ['Idempotency-Key', randomUUID()],
          ],
          body,
        );
      });
    }
  }
  const fields = Buffer.from(
    '--x-file-boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(10_000),
  );
  await api.check('10,000 parts', () =>
    api.send(
      'POST',
      '/v1/attachments',
      [
        ['Content-Type', multipartType],
        ['Idempotency-Key', randomUUID()],
      ],
      fields,
    ),
  );
  const header = Buffer.from(`--x-file-boundary\r\n${'X-A: b\r\n'.repeat(100_000)}`);
  await api.check('100,000 header fields of a part', () =>
    api.send(
      'POST',
      '/v1/attachments',
      [
        ['Content-Type', multipartType],
        ['Idempotency-Key', randomUUID()],
      ],
      header,
    ),
  );
  api.expectNoneSlow();
});

test('cards of nested markup', async () => {
  const [owner, name] = api.ann.handle.split('.');
  for (const unit of [
    '> ',
    '- ',
    '1. ',
    '[',
    '![',
    '*',
    '**a',
    '_a ',
    '`',
    '``a',
    '~~',
    '<',
    '<a ',
    '&amp;',
    '\\',
    '|',
    '|a\n',
    '[a](',
    '[a]: b\n',
    '![a](b)',
    '# a\n',
    '*a **b ',
    '    a\n',
    '- a\n  ',
    'http://a.b/',
    'a\n\n',
    '](',
    '<!--',
    '***',
    '"',
    '“',
    '((',
    '[a][b]',
  ]) {
    await api.check(`a card of ${JSON.stringify(unit)}`, async (attempt) => {
      const card = `${attempt}\n\n${unit.repeat(Math.floor(32_700 / Buffer.byteLength(unit)))}`;
      const body = { card_body: card };
      const set = await requestRest('PATCH', `${api.url}/v1/agents/me`, { token: api.ann.token, body });
      expect([set.status, unit]).toEqual([200, unit]);
      await api.send('GET', `/v1/agents/${owner}/${name}/card`, [['Accept', 'text/html']]);
      await api.send('GET', `/v1/agents/${owner}/${name}/card`, [['Accept', 'text/markdown']]);
    });
  }
  const rows = 1_000;
  await api.check('a card with a wide table', async (attempt) => {
    const card = `${attempt}\n\n|${'a|'.repeat(rows)}\n|${'-|'.repeat(rows)}\n${'|\n'.repeat(10_000)}`;
    await requestRest('PATCH', `${api.url}/v1/agents/me`, {
      token: api.ann.token,
      body: { card_body: card },
    });
    await api.send('GET', `/v1/agents/${owner}/${name}/card`, [['Accept', 'text/html']]);
  });
  api.expectNoneSlow();
});

test('pages, searches and snippets of the largest messages', { timeout: 600_000 }, async () => {
  const path = `/v1/threads/${String(api.valid['thread_id'])}/messages`;
  const units = ['中文', 'ที่นี่น้ำดีที่สุด', 'a\u0301\u0323', 'x', 'a.b@c '];
  for (let index = 0; index < 50; index += 1) {
    const unit = units[index % units.length] ?? '';
    const end = ` ${index} 海豚`;
    const content =
      unit.repeat(Math.floor((32_768 - Buffer.byteLength(end)) / Buffer.byteLength(unit))) + end;
    await api.check(`sending ${JSON.stringify(unit)}`, async () => {
      const sent = await requestRest('POST', `${api.url}${path}`, {
        token: api.ann.token,
        body: { content },
      });
      expect(sent.status).toBe(201);
    });
  }
  await api.cluster.startWorker();
  await expect
    .poll(async () => (await api.cluster.core.db.outbox.readAge()).rows, { timeout: 300_000 })
    .toBe(0);
  await api.check('a page of messages', () => api.send('GET', `${path}?limit=50`));
  await api.check('a page of events', () => api.send('GET', '/v1/events?limit=100&cursor=earliest', []));
  for (const q of ['海豚', '中文', 'ที่นี่', 'x', 'a.b@c', '中文'.repeat(80), '"中" "文" 海 豚']) {
    const query = encodeURIComponent(q.slice(0, 200));
    await api.check(`a search for ${q.slice(0, 20)}`, () =>
      api.send('GET', `/v1/messages/search?q=${query}&limit=50`),
    );
    await api.check(`a search tool for ${q.slice(0, 20)}`, () =>
      callTool('search_messages', { q: q.slice(0, 200) }),
    );
  }
  await api.check('a thread with all its messages, as a tool', () =>
    callTool('get_thread', { thread_id: api.valid['thread_id'], message_limit: 50 }),
  );
  api.expectNoneSlow();
});
