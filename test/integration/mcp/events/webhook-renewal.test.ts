import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../webhooks/setup.ts';
import { isSignedBy, newSecret, useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks();

/** Holds the answers at one path: `answer` sends a status to the oldest request, and `accept` accepts all that follow. */
function hold(path: string) {
  const { state } = service.receiver;
  const before = state.answer;
  const held: ServerResponse[] = [];
  let isAccepting = false;
  state.answer = (response, post) => {
    if (post.path === path && !isAccepting) held.push(response);
    else before(response, post);
  };
  onTestFinished(() => {
    state.answer = before;
  });
  return {
    count: () => held.length,
    answer: (status: number) => void held.shift()?.writeHead(status).end(),
    accept() {
      isAccepting = true;
    },
  };
}

test('a renewal during the last attempt keeps the subscription active', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const receiver = hold(path);
  await say('One.');
  for (let attempt = 1; attempt < 3; attempt += 1) {
    await waitUntil(receiver.count).toBe(1);
    receiver.answer(503);
  }
  await waitUntil(() => service.contents(path)).toHaveLength(3);
  await service.subscribe(token, params);
  receiver.accept();
  receiver.answer(503);
  await waitUntil(() => service.contents(path)).toHaveLength(4);
  await waitUntil(async () => (await service.row(id)).last_error).toBeNull();
  expect(await service.row(id)).toMatchObject({ active: true, attempts: 0 });
});

test('a renewal while the end of the access is reported keeps the subscription', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const receiver = hold(path);
  await service.query(`update event_subscriptions set grant_id = 'grt_ended' where id = $1`, [id]);
  await say('One.');
  await waitUntil(receiver.count).toBe(1);
  await service.subscribe(token, params);
  receiver.accept();
  receiver.answer(204);
  await waitUntil(() => service.contents(path)).toEqual(['terminated', 'One.']);
  expect(await service.row(id)).toMatchObject({ active: true });
});

test('a renewal after a change of SECRET_KEY delivers at once, signed with the new secret only', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  // As with another key: the secrets cannot be opened.
  await service.query(
    `update event_subscriptions set secret = sha512(secret), previous_secret = sha512(secret), previous_secret_until = $2 where id = $1`,
    [id, Date.now() + 300_000],
  );
  const secret = newSecret();
  await service.subscribe(token, { ...params, delivery: { ...params.delivery, secret } });
  await say('One.');
  await waitUntil(() => service.contents(path)).toEqual(['One.']);
  const [post] = service.receiver.at(path);
  expect(post && isSignedBy(secret, post)).toBe(true);
  expect(String(post?.headers['webhook-signature']).split(' ')).toHaveLength(1);
});
