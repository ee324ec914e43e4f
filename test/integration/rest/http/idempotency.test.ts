import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

async function conversation() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread_id = await service.thread(ann, bob);
  return { ann, bob, url: `${service.api}/threads/${thread_id}/messages` };
}

test('a hundred identical sends with one key create one message and a hundred identical responses', async () => {
  const { ann, url } = await conversation();
  const key = randomUUID();
  const send = () => requestRest('POST', url, { token: ann.token, key, body: { content: 'once' } });
  const answers = await Promise.all(Array.from({ length: 100 }, send));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
  const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  expect(replayed).toHaveLength(99);
  expect((await requestRest('GET', url, { token: ann.token })).body.messages).toHaveLength(1);
});

test('the order of fields does not matter, but values do', async () => {
  const { ann, url } = await conversation();
  const key = randomUUID();
  const first = await requestRest('POST', url, {
    token: ann.token,
    key,
    raw: '{"content":"a","content_type":"text"}',
  });
  const again = await requestRest('POST', url, {
    token: ann.token,
    key,
    raw: '{ "content_type":"text", "content":"a" }',
  });
  expect(again.text).toBe(first.text);
  const other = await requestRest('POST', url, { token: ann.token, key, body: { content: 'b' } });
  expect(outcomeOf(other)).toBe('422 IDEMPOTENCY_MISMATCH');
});

test('a repeated send has the same bytes, whatever the message has, and the stored answer has no text of the request', async () => {
  const { ann, url } = await conversation();
  const word = `w${randomUUID()}`;
  const first = await requestRest('POST', url, {
    token: ann.token,
    key: randomUUID(),
    body: { content: 'first' },
  });
  const metadata = '"metadata":{"b":1.0,"2":{"c":[null,-0]},"1":"\\u2028"}';
  const bodies = [
    `{"content":"${word}"}`,
    `{"content":"${word} \\ud83d\\ude00 \\"quoted\\"","content_type":"markdown"}`,
    `{"content":"${word}","reply_to":"${first.body.id}",${metadata}}`,
    `{"content":"${word}","replaces":"${first.body.id}","reply_to":null}`,
  ];
  for (const raw of bodies) {
    const send = { token: ann.token, key: randomUUID(), raw };
    const [sent, repeated] = [await requestRest('POST', url, send), await requestRest('POST', url, send)];
    expect([sent.status, sent.text]).toEqual([201, repeated.text]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(sent.body.content).toContain(word);
  }
  const stored = await service.sql('select 1 from idempotency_keys where strpos(answer, $1) > 0', [word]);
  expect(stored).toEqual([]);
});

test('a key is scoped to one agent and one path', async () => {
  const { ann, bob, url } = await conversation();
  const elsewhere = await conversation();
  const key = randomUUID();
  const ids = [
    await requestRest('POST', url, { token: ann.token, key, body: { content: 'a' } }),
    await requestRest('POST', url, { token: bob.token, key, body: { content: 'a' } }),
    await requestRest('POST', elsewhere.url, { token: elsewhere.ann.token, key, body: { content: 'a' } }),
  ].map(({ body }) => body.id);
  expect(new Set(ids).size).toBe(3);
});

test('a missing or malformed key is refused, and nothing happens', async () => {
  const { ann, url } = await conversation();
  const missing = await requestRest('POST', url, { token: ann.token, key: null, body: { content: 'a' } });
  expect(outcomeOf(missing)).toBe('400 IDEMPOTENCY_KEY_REQUIRED');
  for (const key of ['with space', 'ümlaut', 'x'.repeat(256)]) {
    const wrong = await requestRest('POST', url, { token: ann.token, key, body: { content: 'a' } });
    expect(outcomeOf(wrong), key).toBe('400 VALIDATION_ERROR');
  }
  expect(
    (await requestRest('POST', url, { token: ann.token, key: 'x'.repeat(255), body: { content: 'a' } }))
      .status,
  ).toBe(201);
  expect((await requestRest('GET', url, { token: ann.token })).body.messages).toHaveLength(1);
});

test('a refusal is not stored: the same key works after its reason is resolved', async () => {
  const { ann, url } = await conversation();
  const thread = url.replace('/messages', '');
  const key = randomUUID();
  await requestRest('PATCH', thread, { token: ann.token, body: { status: 'closed' } });
  expect((await requestRest('POST', url, { token: ann.token, key, body: { content: 'a' } })).status).toBe(
    403,
  );
  await requestRest('PATCH', thread, { token: ann.token, body: { status: 'active' } });
  expect((await requestRest('POST', url, { token: ann.token, key, body: { content: 'a' } })).status).toBe(
    201,
  );
  await requestRest('PATCH', thread, { token: ann.token, body: { status: 'closed' } });
  const later = await requestRest('POST', url, { token: ann.token, key, body: { content: 'a' } });
  expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
});

test('a thread and its first message are created once too', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const key = randomUUID();
  const [owner, name] = ann.handle.split('.');
  const body = { with_handle: bob.handle, initial_message: 'hello' };
  const paths = ['/threads', `/agents/${owner}/${name}/threads`, '/threads'];
  const answers = await Promise.all(paths.map((path) => service.post(ann, path, body, { key })));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await service.get(bob, '/threads')).body.threads).toHaveLength(1);
});
