import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../webhooks/setup.ts';
import { useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks();

/** Answers requests to one path with a status, until the test ends. */
function answerWith(path: string, statusOf: (content: string | undefined) => number) {
  const { state } = service.receiver;
  const before = state.answer;
  state.answer = (response, post) =>
    post.path === path
      ? void response.writeHead(statusOf(post.json.data?.content)).end()
      : before(response, post);
  const restore = () => {
    state.answer = before;
  };
  onTestFinished(restore);
  return restore;
}

test('after an outage longer than all retries a refresh replays every event, in order', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id, cursor } = await service.subscribe(token, params);
  const restore = answerWith(path, () => 503);
  await say('One.');
  await say('Two.');
  await waitUntil(async () => (await service.row(id)).active).toBe(false);
  await say('Three.');
  restore();
  const failed = service.receiver.at(path).length;
  const renewed = await service.subscribe(token, { ...params, cursor });
  expect(renewed).toMatchObject({
    cursor,
    deliveryStatus: { active: false, lastError: 'http_5xx', failedSince: expect.any(String) },
  });
  await waitUntil(() => service.contents(path).slice(failed)).toEqual(['One.', 'Two.', 'Three.']);
  // Every attempt has the same id, and a signature of its own time.
  const ids = service.receiver.at(path).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(3);
});

test('what the feed has lost during the outage is a gap', async () => {
  const { token, say, reader } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const restore = answerWith(path, () => 503);
  await say('Lost.');
  await waitUntil(async () => (await service.row(id)).active).toBe(false);
  await service.query('delete from feed where agent_id = $1', [reader.id]);
  await say('Kept.');
  restore();
  const failed = service.receiver.at(path).length;
  await service.subscribe(token, params);
  await waitUntil(() => service.contents(path).slice(failed)).toEqual(['gap', 'Kept.']);
  const gap = service.receiver.at(path)[failed];
  expect(gap?.headers['webhook-id']).toMatch(/^msg_gap_/);
  expect(gap?.json).toEqual({ type: 'gap', cursor: expect.any(String) });
});

test.each([
  { name: 'too large for the receiver is left out at once', status: 413, attempts: 1 },
  { name: 'that the receiver always rejects is left out after all retries', status: 422, attempts: 3 },
])('an event $name, and a gap says so', async ({ status, attempts }) => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  await service.subscribe(token, params);
  answerWith(path, (content) => (content === 'Bad.' ? status : 204));
  await say('Good.');
  await say('Bad.');
  await say('Better.');
  const bad = Array.from({ length: attempts }, () => 'Bad.');
  await waitUntil(() => service.contents(path)).toEqual(['Good.', ...bad, 'gap', 'Better.']);
});

test.each([
  { name: 'too large for the receiver', status: 413, gaps: 1 },
  { name: 'that the receiver always rejects', status: 422, gaps: 3 },
])('a gap $name pauses the subscription, and a renewal begins with it', async ({ status, gaps }) => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const restore = answerWith(path, (content) => (content === undefined ? status : 413));
  await say('Bad.');
  await say('Better.');
  await waitUntil(async () => (await service.row(id)).active).toBe(false);
  expect(service.contents(path)).toEqual(['Bad.', ...Array.from({ length: gaps }, () => 'gap')]);
  restore();
  await service.subscribe(token, params);
  await waitUntil(() => service.contents(path).slice(gaps + 1)).toEqual(['gap', 'Better.']);
});

test('410 ends the subscription', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  answerWith(path, () => 410);
  await say('One.');
  await waitUntil(() => service.row(id)).toBeUndefined();
  await say('Two.');
  expect(service.contents(path)).toEqual(['One.']);
});

test('a redirect is not followed', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const { state } = service.receiver;
  const before = state.answer;
  onTestFinished(() => {
    state.answer = before;
  });
  state.answer = (response, post) =>
    post.path === path
      ? void response.writeHead(307, { Location: `${service.receiver.url}/redirected` }).end()
      : before(response, post);
  await say('One.');
  await waitUntil(async () => (await service.row(id)).last_error).toBe('http_4xx');
  expect(service.receiver.at('/redirected')).toEqual([]);
});
