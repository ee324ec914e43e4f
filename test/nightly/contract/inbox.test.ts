import { requestRest } from '../../clients/rest.ts';
import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

const leases = '/v1/inbox/leases';

/** Two agents with a thread; the second one has its inbox on. */
async function startWork(world: World, settings: object = {}) {
  await world.agent('asker');
  const worker = await world.agent('worker');
  await world.request('worker', 'PUT', '/v1/inbox', { body: settings });
  const open = async () => {
    const body = { with_handle: world.handle('worker') };
    const created = await world.request('asker', 'POST', '/v1/threads', { body });
    return `/v1/threads/${created.body.id}`;
  };
  const thread = await open();
  return {
    worker,
    thread,
    open,
    send: (content: string, to = thread) =>
      world.request('asker', 'POST', `${to}/messages`, { body: { content } }),
    /** One instance, because the order of several depends on the time of day. */
    async claim(input: object = {}): Promise<{ id: string; event: { id: string } }[]> {
      const body = { consumer: 'a', ...input };
      return (await world.request('worker', 'POST', leases, { body })).body.leases;
    },
    write: (lease: { id: string } | undefined, action: string, body: object = {}) =>
      world.request('worker', 'POST', `${leases}/${lease?.id}/${action}`, { body }),
    show: () => world.request('worker', 'GET', '/v1/inbox'),
  };
}

sameAnswers('an inbox is turned on, changed and turned off', async (world) => {
  await world.agent('ann');
  const put = (body: object) => world.request('ann', 'PUT', '/v1/inbox', { body });
  await world.request('ann', 'GET', '/v1/inbox');
  await world.request('ann', 'POST', leases, { body: {} });
  await put({});
  await put({ types: ['message.created', 'contact.request'], max_attempts: 2, lease_seconds: 30 });
  await world.request('ann', 'GET', '/v1/inbox');
  await put({ types: [] });
  await put({ types: ['message.read'] });
  await put({ types: ['message.created', 'message.created'] });
  await put({ lease_seconds: 4 });
  await put({ from: 'x.y' });
  const token = await world.token('ann', ['contacts:read', 'threads:write']);
  await put({});
  await world.request(null, 'POST', leases, { token, body: {} });
  await world.request(null, 'GET', '/v1/inbox', { token });
  await world.request('ann', 'DELETE', '/v1/inbox');
  await world.request('ann', 'DELETE', '/v1/inbox');
});

sameAnswers('items are claimed in order of their threads, renewed and acknowledged', async (world) => {
  const { claim, send, show, write, open } = await startWork(world);
  const other = await open();
  for (const text of ['one', 'two']) await send(text);
  await send('three', other);
  await show();
  const [one, three] = await claim({ max: 10, lease_seconds: 3_600 });
  await claim({ max: 10 });
  await write(one, 'renew', { lease_seconds: 60 });
  await write(one, 'renew', { lease_seconds: 1 });
  await show();
  await write(one, 'acknowledge');
  await write(one, 'acknowledge');
  await world.request('asker', 'POST', `${leases}/${three?.id}/acknowledge`, { body: {} });
  await world.request('worker', 'POST', `${leases}/lse_1/acknowledge`, { body: {} });
  const [two] = await claim({ max: 10 });
  const ids = [two?.id, three?.id, one?.id, 'lse_1'];
  await world.request('worker', 'POST', `${leases}:acknowledge`, { body: { ids } });
  await world.request('worker', 'POST', `${leases}:acknowledge`, { body: { ids: [] } });
  await claim({ max: 101 });
  await show();
});

sameAnswers('a reply is sent with the acknowledgement, and receipts say handled', async (world) => {
  const { worker, claim, send, thread, write } = await startWork(world);
  await send('when?');
  await world.events('asker', 2);
  const [lease] = await claim();
  await world.request('worker', 'POST', `${thread}/messages`, {
    body: { content: 'in progress', lease_id: lease?.id },
  });
  await write(lease, 'acknowledge', { reply: { content: '' } });
  await write(lease, 'acknowledge', { reply: { content: '**now**', content_type: 'markdown' } });
  await write(lease, 'acknowledge', { reply: 'again' });
  await world.request('worker', 'POST', `${thread}/messages`, {
    body: { content: 'late', lease_id: lease?.id },
  });
  await world.request('worker', 'POST', `${thread}/messages`, { body: { content: 'x', lease_id: 'lse_1' } });
  await world.events('asker', 4);
  await world.request('asker', 'GET', `${thread}/messages?order=asc`);
  // What the asker received of its own feed depends on the time.
  const { body } = await requestRest('GET', `${world.url}${thread}/receipts`, worker);
  world.note(body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === worker.id));
  await world.request('worker', 'GET', thread);
});

sameAnswers(
  'a released item is dead after its last attempt, until it is redriven or deleted',
  async (world) => {
    const { claim, send, write, show, thread } = await startWork(world, { max_attempts: 1 });
    for (const text of ['one', 'two']) await send(text);
    const [one] = await claim();
    await write(one, 'release', { reason: 'broken' });
    await write(one, 'release');
    const [two] = await claim();
    await write(two, 'release');
    await world.request('worker', 'GET', '/v1/inbox/dead');
    await show();
    const dead = (item: typeof one) => `/v1/inbox/dead/${item?.event.id}`;
    await world.request('asker', 'POST', `${dead(one)}/redrive`);
    await world.request('worker', 'POST', `${dead(one)}/redrive`);
    await world.request('worker', 'POST', `${dead(one)}/redrive`);
    await world.request('worker', 'DELETE', dead(two));
    await world.request('worker', 'DELETE', dead(two));
    await write((await claim())[0], 'acknowledge');
    await world.events('asker', 5);
    await world.request('asker', 'GET', `${thread}/receipts`);
  },
);

sameAnswers(
  'pauses, removed members and other events end leases or are items of their own',
  async (world) => {
    const types = ['message.created', 'contact.request', 'thread.member_removed'];
    const { claim, send, write, thread, open } = await startWork(world, { types, ordered_by_thread: false });
    await world.request('asker', 'POST', '/v1/contacts/requests', {
      body: { handle: world.handle('worker') },
    });
    // An instance without a name.
    const [request] = await claim({ consumer: undefined });
    await write(request, 'acknowledge', { reply: 'no thread' });
    await write(request, 'acknowledge');
    await send('one');
    const [one] = await claim();
    await world.request('asker', 'DELETE', `${thread}/members/${world.handle('worker')}`);
    await write(one, 'acknowledge', { reply: 'late' });
    const [removed] = await claim({ max: 10 });
    await write(removed, 'acknowledge');
    const other = await open();
    await send('two', other);
    const [two] = await claim();
    const manager = { owner: 'worker', scopes: ['agents:write', 'agents:read'] } as const;
    await world.agent('manager', manager);
    const worker = `/v1/agents/${world.handle('worker')}`;
    await world.request('manager', 'PATCH', worker, { body: { paused: true } });
    await write(two, 'renew', { lease_seconds: 60 });
    await claim();
    await world.request('manager', 'PATCH', worker, { body: { paused: false } });
    await claim();
  },
);

sameAnswers('a claim waits for the next message', async (world) => {
  await world.agent('asker');
  await world.agent('worker');
  const { token } = await world.agent('other', { owner: 'worker' });
  await requestRest('PUT', `${world.url}/v1/inbox`, { token, body: {} });
  const body = { wait_seconds: 20 };
  const waiting = requestRest('POST', `${world.url}${leases}`, { token, body });
  await world.request('asker', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('other'), initial_message: 'one' },
  });
  world.note((await waiting).body);
});
