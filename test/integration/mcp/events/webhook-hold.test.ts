import { expect, test } from 'vitest';
import { declaresEvents } from '../../../clients/mcp/events.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks({ EVENTS_HOLD_SECONDS: '300' });

const whoami = { name: 'whoami', arguments: {} };

test('events are held while the client of the sketch makes calls, and not for others', async () => {
  const { token, say } = await service.pair();
  const [held, other] = [service.target(), service.target()];
  const { id } = await service.subscribe(token, held.params);
  await service.subscribe(token, other.params, declaresEvents);
  await service.call(token, 'tools/call', whoami);
  await waitUntil(async () => (await service.row(id)).last_call_at).not.toBeNull();
  await say('During the turn.');
  await waitUntil(() => service.contents(other.path)).toEqual(['During the turn.']);
  await waitUntil(async () => (await service.row(id)).next_at - Date.now()).toBeGreaterThan(60_000);
  expect(service.contents(held.path)).toEqual([]);
  // The turn is over: the hold has passed.
  await service.query('update event_subscriptions set last_call_at = 1, next_at = 1 where id = $1', [id]);
  await waitUntil(() => service.contents(held.path)).toEqual(['During the turn.']);
});

test('no event is held for more than five minutes, however often the client makes calls', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  await service.call(token, 'tools/call', whoami);
  await waitUntil(async () => (await service.row(id)).last_call_at).not.toBeNull();
  await say('Old.');
  await waitUntil(async () => (await service.row(id)).next_at - Date.now()).toBeGreaterThan(60_000);
  await service.query('update events set created_at = created_at - 300000', []);
  await service.query('update event_subscriptions set next_at = 1 where id = $1', [id]);
  await waitUntil(() => service.contents(path)).toEqual(['Old.']);
});

test('calls of other clients, and calls of older revisions, hold nothing', async () => {
  const { token, say, writer } = await service.pair();
  const { path, params } = service.target();
  await service.subscribe(token, params);
  await service.call(await service.token(writer), 'tools/call', whoami);
  await callToolRaw(service.url, token, 'whoami');
  await say('At once.');
  await waitUntil(() => service.contents(path)).toEqual(['At once.']);
});
