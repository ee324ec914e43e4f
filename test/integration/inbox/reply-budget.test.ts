import { expect, test } from 'vitest';
import { type RestResponse } from '../../clients/rest.ts';
import { useService } from '../../support/service.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { startWork } from './setup.ts';

const service = useService({ worker: false, env: { RATE_LIMITS: 'send_message=3/600' } });

const budgetOf = ({ headers }: RestResponse) => headers.get('ratelimit')?.split(';')[0];

test('a reply counts as a message in its thread, on every transport; other acknowledgements do not', async () => {
  const { worker, inbox, thread, openThread, send } = await startWork(service, { ordered_by_thread: false });
  for (const text of ['one', 'two', 'three']) await send(text);
  await send('elsewhere', await openThread());
  const [one, two, three, elsewhere] = (await inbox.leases({ max: 10 })).map(({ id }) => id);
  const caller = await connectCaller(worker, service);

  const first = await inbox.acknowledge(one ?? '', { reply: '1' });
  expect([first.status, budgetOf(first)]).toEqual([200, '"send_message"']);
  expect((await call(caller, 'acknowledge_message', { lease_id: two, reply: '2' })).status).toBe(200);
  const sent = await service.post(worker, `/threads/${thread}/messages`, { content: '3' });
  expect([sent.status, sent.headers.get('ratelimit')]).toEqual([201, expect.stringContaining('r=0')]);

  const refused = await inbox.acknowledge(three ?? '', { reply: '4' });
  expect([refused.status, refused.body.error.code, budgetOf(refused)]).toEqual([
    429,
    'RATE_LIMITED',
    '"send_message"',
  ]);
  const refusedCall = await call(caller, 'acknowledge_message', { lease_id: three, reply: '4' });
  expect(refusedCall.error.code).toBe('RATE_LIMITED');
  // The lease stays, and the other thread has its own budget.
  expect((await inbox.get()).body).toMatchObject({ leased: 2 });
  expect((await inbox.acknowledge(elsewhere ?? '', { reply: '5' })).status).toBe(200);
  const silent = await inbox.acknowledge(three ?? '');
  expect([silent.status, budgetOf(silent)]).toEqual([200, '"default"']);
});

test('replies to leases that do not exist have a limit, too', async () => {
  const { inbox } = await startWork(service);
  const answers: number[] = [];
  for (let sent = 0; sent < 4; sent += 1)
    answers.push((await inbox.acknowledge('lse_x', { reply: 'x' })).status);
  expect(answers).toEqual([404, 404, 404, 429]);
});
