import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../webhooks/setup.ts';
import { useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks({ RATE_LIMITS: 'default=20/60' });

test.each(['events/list', 'events/unsubscribe'])(
  '%s counts against the limit of the agent',
  async (method) => {
    const { token } = await service.pair();
    const { params } = service.target();
    const query = method === 'events/list' ? {} : { name: params.name, delivery: params.delivery };
    const codes: unknown[] = [];
    for (let n = 0; n < 21; n += 1) codes.push((await service.call(token, method, query)).error?.code);
    expect(codes.at(-1)).toBe(-32_013);
    expect(codes.slice(0, -1)).not.toContain(-32_013);
  },
);

test('concurrent calls cannot create more than 100 subscriptions', async () => {
  const { token, reader } = await service.pair();
  const { params } = service.target();
  const { id } = await service.subscribe(token, params);
  const columns = (await service.query(
    `select column_name as name from information_schema.columns where table_name = 'event_subscriptions' and column_name <> 'id'`,
    [],
  )) as { name: string }[];
  const names = columns.map(({ name }) => name).join(', ');
  await service.query(
    `insert into event_subscriptions (id, ${names}) select id || '_' || n, ${names} from event_subscriptions, generate_series(1, 98) n where id = $1`,
    [id],
  );
  const { state } = service.receiver;
  const before = { ...state };
  onTestFinished(() => void Object.assign(state, before));
  // All challenges are answered when all calls have passed the first check.
  const held: (() => void)[] = [];
  state.answersChallenges = false;
  state.answer = (response, { json }) => {
    held.push(() => void response.end(JSON.stringify({ challenge: json.challenge })));
    if (held.length === 3) for (const answer of held) answer();
  };
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => service.call(token, 'events/subscribe', service.target().params)),
  );
  expect(answers.filter(({ error }) => error?.code === -32_013)).toHaveLength(2);
  expect(answers.filter(({ result }) => result)).toHaveLength(1);
  const rows = await service.query('select id from event_subscriptions where agent_id = $1', [reader.id]);
  expect(rows).toHaveLength(100);
  // A renewal is not a new one.
  expect((await service.subscribe(token, params)).id).toBe(id);
});

test('slow receivers of one agent occupy four turns of a worker, and all get their events', async () => {
  const [slow, quick] = [await service.pair(), await service.pair()];
  const targets = Array.from({ length: 8 }, () => service.target());
  const paths = new Set(targets.map(({ path }) => path));
  for (const { params } of targets) await service.subscribe(slow.token, params);
  const other = service.target();
  await service.subscribe(quick.token, other.params);
  const { state } = service.receiver;
  const before = state.answer;
  onTestFinished(() => {
    state.answer = before;
  });
  const held: ServerResponse[] = [];
  state.answer = (response, post) => {
    if (paths.has(post.path)) held.push(response);
    else before(response, post);
  };
  await slow.say('Slow.');
  await waitUntil(() => held.length).toBeGreaterThanOrEqual(4);
  for (const text of ['One.', 'Two.', 'Three.']) await quick.say(text);
  await waitUntil(() => service.receiver.at(other.path)).toHaveLength(3);
  expect(held).toHaveLength(4);
  for (const response of held.splice(0)) response.writeHead(204).end();
  await waitUntil(() => held.length).toBe(4);
  for (const response of held.splice(0)) response.writeHead(204).end();
  await waitUntil(() => targets.map(({ path }) => service.receiver.at(path).length)).toEqual(
    targets.map(() => 1),
  );
});
