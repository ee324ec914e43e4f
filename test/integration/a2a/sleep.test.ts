import { expect, test } from 'vitest';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { a2aAddress, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { respondWith, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type TestAgent, useService } from '../../support/service.ts';
import { use } from '../../support/use.ts';
import { connectModel } from '../inbox/setup.ts';
import { describePost, now, passUntilNextAttempt, sendDue } from './push-setup.ts';

const service = useService({ worker: false, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const receiver = use(() => startWebhookReceiver({ isDescribed: false }));

const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';
const day = 86_400_000;

/** Moves every time of a task into the past, by a day, and lets the service see to it. */
async function passDay(id: string): Promise<void> {
  await service.sql(
    `update tasks set created_at = created_at - $2, updated_at = updated_at - $2, expires_at = expires_at - $2 where id = $1`,
    [id, day],
  );
  await maintenanceHandler(service.core).handle({ task: 'sweep-tasks' });
}

/** A client of an agent with a new token. */
async function connectClient(ann: TestAgent, bob: TestAgent, expires_in = 900) {
  const token = await service.token(ann.handle, { expires_in });
  return createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), token);
}

test('an agent that was off for a day answers over MCP, and its client, which went away, finds the answer', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const url = `${receiver.url}/updates`;
  const first = await connectClient(ann, bob, 3);
  const message = toA2aMessage('When does my order leave?');
  const configuration = { taskPushNotificationConfig: { url } };
  const stream = await first.stream('SendStreamingMessage', { message, configuration });
  const { value } = await stream.next();
  const { id } = (value as { event: { task: { id: string } } }).event.task;
  // The stream ends with the token of the client.
  expect((await stream.next()).done).toBe(true);
  const refused = await first.call('GetTask', { id });
  expect([refused.status, reasonOf(refused)]).toEqual([401, 'UNAUTHORIZED']);
  await passDay(id);

  const client = await connectClient(ann, bob);
  const options = { headers: { 'A2A-Extensions': mailbox, 'Last-Event-ID': '1' } };
  const waiting = await client.call('GetTask', { id }, options);
  expect(waiting.result.status.state).toBe('TASK_STATE_SUBMITTED');
  expect(waiting.result.metadata[mailbox].delivery).toBe('stored');
  const second = await client.stream('SubscribeToTask', { id }, options);

  const { tool, close } = await connectModel(service, bob);
  const { value: news } = await tool('wait_for_events', { types: ['message.created'], wait_seconds: 20 });
  expect(JSON.stringify(news)).toContain('When does my order leave?');
  const delivery = async () =>
    (await client.call('GetTask', { id }, options)).result.metadata[mailbox].delivery;
  await expect.poll(delivery).toBe('delivered');
  await tool('update_task', { task_id: id, state: 'input_required', message: 'Which order?' });
  const ids: (string | undefined)[] = [];
  // The stream ends because the task needs input.
  for await (const event of second) ids.push(event.id);

  const third = await connectClient(ann, bob);
  await third.call('SendMessage', { message: toA2aMessage('1042', { taskId: id }), configuration: now });
  const again = await third.stream('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': '2' } });
  await tool('update_task', { task_id: id, state: 'completed', message: 'On Friday.', artifact: true });
  await close();
  for await (const event of again) ids.push(event.id);
  expect(ids).toEqual(['1', '2', '2', '3', '4', '5']);

  const { result } = await third.call('GetTask', { id });
  expect(result.artifacts[0].parts).toEqual([{ text: 'On Friday.', mediaType: 'text/plain' }]);
  // The message that was sent first finds its task.
  expect((await third.call('SendMessage', { message })).result.task).toEqual(result);
  await sendDue(service.core);
  expect(receiver.postsAt('/updates').map(describePost)).toEqual([
    'TASK_STATE_INPUT_REQUIRED Which order?',
    'TASK_STATE_WORKING',
    'artifact On Friday.',
    'TASK_STATE_COMPLETED',
  ]);
});

test('a receiver that is away for a day gets every update of an agent that was off, once and in order', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const client = await connectClient(ann, bob);
  const taskPushNotificationConfig = { url: `${receiver.url}/away` };
  const configuration = { ...now, taskPushNotificationConfig };
  const sent = await client.call('SendMessage', { message: toA2aMessage('When?'), configuration });
  const { id } = sent.result.task;
  const report = (state: string, text: string, artifact = false) =>
    service.post(bob, `/tasks/${id}/update`, { state, message: text, ...(artifact && { artifact }) });
  await passDay(id);
  receiver.setHandler(respondWith(503));
  await report('working', 'Looking.');
  await sendDue(service.core);
  let awayMs = 0;
  while (awayMs < day) {
    awayMs += await passUntilNextAttempt(service.core, id);
    await report('working', `After ${Math.round(awayMs / 60_000)} minutes.`);
    await sendDue(service.core);
  }
  await report('completed', 'Tomorrow.', true);
  const refused = receiver.postsAt('/away');
  // Every attempt was the first update, under one id.
  expect(new Set(refused.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`${id}-2`]));

  receiver.setHandler(respondWith(204));
  await passUntilNextAttempt(service.core, id);
  await sendDue(service.core);
  const accepted = receiver.postsAt('/away').slice(refused.length);
  const { result } = await client.call('GetTask', { id }, { headers: { 'A2A-Extensions': mailbox } });
  const { generation } = result.metadata[mailbox];
  const generations = Array.from({ length: generation - 1 }, (_, at) => at + 2);
  expect(accepted.map(({ headers }) => headers['webhook-id'])).toEqual(
    generations.map((each) => `${id}-${each}`),
  );
  expect(accepted.map(describePost).slice(0, 2)).toEqual([
    'TASK_STATE_WORKING Looking.',
    'TASK_STATE_WORKING After 0 minutes.',
  ]);
  expect(accepted.map(describePost).slice(-2)).toEqual(['artifact Tomorrow.', 'TASK_STATE_COMPLETED']);
});
