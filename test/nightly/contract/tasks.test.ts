import { requestRest } from '../../clients/rest.ts';
import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

const leases = '/v1/inbox/leases';

/** Two agents, and calls about the tasks of the first one with the second one. */
async function startTasks(world: World) {
  for (const name of ['client', 'worker']) await world.agent(name);
  const post = (name: string, path: string, body: object = {}) =>
    world.request(name, 'POST', `/v1${path}`, { body });
  return {
    post,
    async open(fields: object = {}) {
      const body = { with_handle: world.handle('worker'), content: 'When does it arrive?', ...fields };
      return (await post('client', '/tasks', body)).body as {
        id: string;
        thread_id: string;
        message_id: string;
      };
    },
    show: (name: string, id: string) => world.request(name, 'GET', `/v1/tasks/${id}`),
    send: (name: string, thread: string, fields: object = {}) =>
      post(name, `/threads/${thread}/messages`, { content: 'text', ...fields }),
    report: (name: string, id: string, body: object) => post(name, `/tasks/${id}/update`, body),
    cancel: (name: string, id: string) => post(name, `/tasks/${id}/cancel`),
    async claim(): Promise<string> {
      const body = { max: 1, consumer: 'a' };
      return (await post('worker', '/inbox/leases', body)).body.leases[0]?.id;
    },
    write: (lease: string, action: string, body: object = {}) =>
      world.request('worker', 'POST', `${leases}/${lease}/${action}`, { body }),
  };
}

sameAnswers('a plain reply completes a task, and each agent gets each change', async (world) => {
  const { open, show, send } = await startTasks(world);
  const { id, thread_id, message_id } = await open({
    due_in_seconds: 600,
    accepted_output_modes: ['text/csv'],
  });
  await show('worker', id);
  await send('worker', thread_id);
  await show('client', id);
  await send('worker', thread_id, { reply_to: message_id });
  await show('worker', id);
  for (const name of ['client', 'worker']) await world.events(name, 7);
});

sameAnswers('the asked agent reports, asks back, and sends a result', async (world) => {
  const { open, show, send, report } = await startTasks(world);
  const { id, thread_id } = await open();
  await report('worker', id, { state: 'working' });
  await report('worker', id, { state: 'working' });
  await report('worker', id, { state: 'working', message: 'Half done.' });
  await report('worker', id, { state: 'input_required' });
  await report('worker', id, {
    state: 'input_required',
    message: { content: '**Which?**', content_type: 'markdown' },
  });
  await send('client', thread_id);
  await send('client', thread_id);
  await report('worker', id, { state: 'completed', data: { day: 'Friday' } });
  await report('worker', id, { state: 'failed' });
  await show('client', id);
  await world.events('client', 14);
});

sameAnswers('a task is refused, canceled, and hidden from others', async (world) => {
  const { open, show, report, cancel, post } = await startTasks(world);
  await world.agent('other');
  const { id, thread_id } = await open();
  await report('client', id, { state: 'working' });
  await cancel('worker', id);
  await show('other', id);
  await report('other', id, { state: 'working' });
  await cancel('other', 'tsk_1');
  await cancel('client', id);
  await cancel('client', id);
  await report('worker', id, { state: 'completed', message: 'late' });
  const rejected = await open({ thread_id, with_handle: undefined });
  await report('worker', rejected.id, { state: 'rejected', message: 'I cannot.' });
  await cancel('client', rejected.id);
  for (const body of [
    {},
    { with_handle: world.handle('worker'), content: 'x', due_in_seconds: 59 },
    { with_handle: world.handle('worker'), content: 'x', due_in_seconds: 9_000_000 },
    { with_handle: world.handle('worker'), content: 'x', reply_to: 'msg_1' },
    { thread_id, content: 'x', subject: 'x' },
    { thread_id, content: 'x', with_handle: world.handle('other') },
  ])
    await post('client', '/tasks', body);
  await world.request('other', 'GET', '/v1/tasks');
});

sameAnswers('a reply belongs to the oldest task or to the one that it names', async (world) => {
  const { open, show, send, post } = await startTasks(world);
  const first = await open();
  const { thread_id } = first;
  const second = await open({ thread_id });
  await send('worker', thread_id, { reply_to: second.message_id });
  const back = await post('worker', '/tasks', { thread_id, content: 'Which?' });
  await show('client', first.id);
  await send('worker', thread_id);
  await send('client', thread_id);
  for (const { id } of [first, second, back.body]) await show('client', id);
  const list = (query: string) => world.request('client', 'GET', `/v1/tasks?${query}`);
  for (const query of ['role=asked', 'state=completed&role=asking', 'state=open', 'overdue=true', 'role=x'])
    await list(query);
  const { body } = await list('limit=2');
  await list(`limit=2&cursor=${body.next_cursor}`);
});

sameAnswers('a group asks a named member, and the end of a thread ends its tasks', async (world) => {
  const { post, open, show } = await startTasks(world);
  await world.agent('other');
  const group = async () => {
    const participants = ['worker', 'other'].map((name) => world.handle(name));
    return String((await post('client', '/threads', { participants })).body.id);
  };
  const thread_id = await group();
  await post('client', '/tasks', { thread_id, content: 'Who?' });
  await post('client', `/threads/${thread_id}/ask`, { content: 'Who?', wait_seconds: 0 });
  const of = world.handle('worker');
  const question = await post('client', `/threads/${thread_id}/ask`, {
    content: 'You?',
    of,
    wait_seconds: 0,
  });
  const { id } = question.body.task;
  await post('other', `/threads/${thread_id}/messages`, {
    content: 'me',
    reply_to: question.body.message.id,
  });
  await show('client', id);
  await world.request('worker', 'PATCH', `/v1/threads/${thread_id}`, { body: { status: 'closed' } });
  await show('client', id);
  for (const name of ['client', 'worker']) {
    const thread = await group();
    const task = await open({ thread_id: thread });
    await world.request('client', 'DELETE', `/v1/threads/${thread}/members/${world.handle(name)}`);
    await show('client', task.id);
  }
});

sameAnswers('leases move a task', async (world) => {
  const { open, show, send, claim, write, cancel } = await startTasks(world);
  await world.request('worker', 'PUT', '/v1/inbox', { body: { max_attempts: 2 } });
  const { id, thread_id } = await open();
  await write(await claim(), 'release');
  await show('client', id);
  const lease = await claim();
  await write(lease, 'acknowledge', { task_state: 'failed' });
  await write(lease, 'acknowledge', { reply: 'Which?', task_state: 'input_required' });
  // The mark of what is handled moves after the answer.
  await world.events('client', 10);
  await send('client', thread_id);
  await write(await claim(), 'acknowledge', { reply: 'Tomorrow.' });
  await world.events('client', 7);
  await show('client', id);
  const canceled = await open();
  await cancel('client', canceled.id);
  await claim();
  const failed = await open();
  await write(await claim(), 'release');
  await write(await claim(), 'release');
  const { body } = await world.request('worker', 'GET', '/v1/inbox/dead');
  await world.request('worker', 'DELETE', `/v1/inbox/dead/${body.items[0].id}`);
  await world.events('client', 14);
  await show('client', failed.id);
  const turnedOff = await open();
  await claim();
  await world.request('worker', 'DELETE', '/v1/inbox');
  await show('client', turnedOff.id);
});

sameAnswers('waits answer with the reply or with the end of the task', async (world) => {
  const { post, open, send, report, cancel } = await startTasks(world);
  const ask = { with_handle: world.handle('worker'), content: 'When?', due_in_seconds: 60, wait_seconds: 0 };
  const { body } = await post('client', '/threads/ask', ask);
  const reply = `/v1/threads/${body.message.thread_id}/reply`;
  const path = `${reply}?task_id=${body.task.id}&wait_seconds=0`;
  await world.request('client', 'GET', path);
  await report('worker', body.task.id, { state: 'input_required', message: 'Which?' });
  await world.request('client', 'GET', path);
  await send('client', body.message.thread_id);
  await world.request('client', 'GET', `${path}&after_sequence=2`);
  await report('worker', body.task.id, { state: 'rejected' });
  await world.request('client', 'GET', `${reply}?task_id=${body.task.id}&after_sequence=2&wait_seconds=20`);
  await world.request('worker', 'GET', `${reply}?task_id=tsk_1`);
  await world.request('client', 'GET', reply);
  const { id } = await open();
  await world.request('client', 'GET', `/v1/tasks/${id}?after_generation=1&wait_seconds=0`);
  const waiting = world.request('client', 'GET', `/v1/tasks/${id}?after_generation=1&wait_seconds=20`);
  const token = await world.token('worker', ['threads:write']);
  await requestRest('POST', `${world.url}/v1/tasks/${id}/update`, { token, body: { state: 'failed' } });
  await waiting;
  await cancel('client', id);
});

sameAnswers('a question back that names a message completes its task', async (world) => {
  const { open, show, post } = await startTasks(world);
  const { id, thread_id, message_id } = await open();
  const back = await post('worker', '/tasks', { thread_id, content: 'Which?', reply_to: message_id });
  await show('client', id);
  await show('client', back.body.id);
});
