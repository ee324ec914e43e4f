import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { toLeaseId } from '../../../src/services/inbox/lease-ids.ts';
import { outcomeOf } from '../../clients/rest.ts';
import { maskResponse } from '../../support/mask-response.ts';
import { useSharedService } from '../../support/service.ts';
import { inboxOf, startWork } from './setup.ts';

const service = useSharedService();

test('a lease of another agent looks like one that does not exist', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('secret');
  const [lease] = await inbox.leases();
  const { inbox: stranger, worker: other, thread } = await startWork(service);
  const foreign = lease?.id ?? '';
  const ids = [foreign, newId('lease'), toLeaseId(worker.id, 1), 'lse_unknown'];
  const calls = (id: string) => [
    () => stranger.renew(id),
    () => stranger.acknowledge(id),
    () => stranger.acknowledge(id, { reply: 'x' }),
    () => stranger.release(id),
    () => service.post(other, `/threads/${thread}/messages`, { content: 'x', lease_id: id }),
  ];
  const answers = await Promise.all(
    ids.map((id) => Promise.all(calls(id).map(async (call) => maskResponse(await call(), { id })))),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(outcomeOf(await stranger.acknowledge(foreign))).toBe('404 LEASE_NOT_FOUND');
  expect((await stranger.acknowledgeAll(ids)).body.results).toEqual(
    ids.map((id) => ({ id, result: 'not_found' })),
  );
  const { events } = (await service.get(worker, '/events?cursor=earliest')).body;
  for (const { id } of events) {
    expect(outcomeOf(await stranger.redrive(id))).toBe('404 NOT_FOUND');
    expect(outcomeOf(await stranger.remove(id))).toBe('404 NOT_FOUND');
  }
  expect((await stranger.get()).body).toMatchObject({ ready: 0, leased: 0, consumers: [] });
  expect((await inbox.acknowledge(foreign)).status).toBe(200);
});

test('wrong values are refused with the field that is wrong', async () => {
  const { inbox } = await startWork(service);
  const refusals = [
    [await inbox.turnOn({ types: ['message.read'] }), 'types.0'],
    [await inbox.turnOn({ types: ['inbox.expired'] }), 'types.0'],
    [await inbox.turnOn({ types: ['message.created', 'message.created'] }), 'types'],
    [await inbox.acknowledge('lse_x', { reply: '' }), 'reply'],
    [await inbox.acknowledge('lse_x', { reply: { content: '' } }), 'reply.content'],
    [await inbox.acknowledgeAll(Array.from({ length: 101 }, () => 'lse_x')), 'ids'],
  ] as const;
  for (const [answer, field] of refusals) {
    expect([field, outcomeOf(answer)]).toEqual([field, '400 VALIDATION_ERROR']);
    expect(answer.body.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
  }
});

test('a token that may not read messages claims none', async () => {
  const { worker, send } = await startWork(service);
  await send('one');
  const writer = inboxOf(service.api, {
    token: await service.token(worker.handle, { scopes: ['threads:write'] }),
  });
  const blind = await writer.claim();
  expect([outcomeOf(blind), blind.headers.get('www-authenticate')]).toEqual([
    '403 INSUFFICIENT_SCOPE',
    expect.stringContaining('threads:read'),
  ]);
});

test('an item without a thread can be acknowledged, not answered', async () => {
  const { asker, worker, inbox } = await startWork(service, { types: ['contact.request'] });
  const requested = await service.post(asker, '/contacts/requests', { handle: worker.handle });
  expect(requested.status).toBe(201);
  // A token that may not see contacts gets no request.
  const threadsOnly = await service.token(worker.handle, { scopes: ['threads:read', 'threads:write'] });
  expect(outcomeOf(await inboxOf(service.api, { token: threadsOnly }).claim())).toBe(
    '403 INSUFFICIENT_SCOPE',
  );
  const [lease] = await inbox.leases();
  expect(lease?.event).toMatchObject({ type: 'contact.request', data: { from: { id: asker.id } } });
  const refused = await inbox.acknowledge(lease?.id ?? '', { reply: 'x' }, { key: randomUUID() });
  expect(outcomeOf(refused)).toBe('400 VALIDATION_ERROR');
  expect((await inbox.acknowledge(lease?.id ?? '')).status).toBe(200);
});
