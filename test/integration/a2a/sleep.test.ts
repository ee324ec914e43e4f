import { expect, test } from 'vitest';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { a2aAddress, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { connectModel } from '../inbox/setup.ts';
import { useService } from '../../support/service.ts';

const service = useService({ worker: false });

const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';

/** Moves every time of a task into the past, by a day, and lets the service see to it. */
async function passDay(id: string): Promise<void> {
  const day = 86_400_000;
  await service.sql(
    `update tasks set created_at = created_at - $2, updated_at = updated_at - $2, expires_at = expires_at - $2 where id = $1`,
    [id, day],
  );
  await maintenanceHandler(service.core).handle({ task: 'sweep-tasks' });
}

test('an agent that was off for a day answers over MCP, and its client, which went away, finds the answer', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const address = a2aAddress(service.url, bob.handle);
  const short = await service.token(ann.handle, { expires_in: 3 });
  const first = createA2aClient('JSONRPC', address, short);
  const message = toA2aMessage('When does order 1042 leave?');
  const stream = await first.stream('SendStreamingMessage', { message });
  const { value } = await stream.next();
  const { id } = (value as { event: { task: { id: string } } }).event.task;
  // The stream ends with the token of the client.
  expect((await stream.next()).done).toBe(true);
  const refused = await first.call('GetTask', { id });
  expect([refused.status, reasonOf(refused)]).toEqual([401, 'UNAUTHORIZED']);
  await passDay(id);

  const client = createA2aClient('JSONRPC', address, ann.token);
  const options = { headers: { 'A2A-Extensions': mailbox, 'Last-Event-ID': '1' } };
  const waiting = await client.call('GetTask', { id }, options);
  expect(waiting.result.status.state).toBe('TASK_STATE_SUBMITTED');
  expect(waiting.result.metadata[mailbox].delivery).toBe('stored');
  const again = await client.stream('SubscribeToTask', { id }, options);

  const { tool, close } = await connectModel(service, bob);
  const { value: news } = await tool('wait_for_events', { types: ['message.created'], wait_seconds: 20 });
  expect(JSON.stringify(news)).toContain('When does order 1042 leave?');
  const delivery = async () =>
    (await client.call('GetTask', { id }, options)).result.metadata[mailbox].delivery;
  await expect.poll(delivery).toBe('delivered');
  await tool('update_task', { task_id: id, state: 'completed', message: 'On Friday.', artifact: true });
  await close();

  const ids: (string | undefined)[] = [];
  for await (const event of again) ids.push(event.id);
  expect(ids).toEqual(['1', '2', '3']);
  const { result } = await client.call('GetTask', { id });
  expect(result.artifacts[0].parts).toEqual([{ text: 'On Friday.', mediaType: 'text/plain' }]);
  // The message that was sent first finds its task.
  expect((await client.call('SendMessage', { message })).result.task).toEqual(result);
});
