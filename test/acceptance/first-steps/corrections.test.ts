import { expect, test } from 'vitest';
import { useService } from '../../support/service.ts';
import { connectModel } from './model.ts';

const service = useService();

/** The usual mistakes one by one are in model-mistakes.test.ts. Here a model gets on with nothing but the error texts. */
test('a model that makes a mistake at every step reaches its goal by doing what the errors say', async () => {
  const [me, friend] = await Promise.all([service.agent(), service.agent({ visibility: 'unlisted' })]);
  const model = await connectModel(service, await service.token(me.handle, { audience: 'mcp' }));
  const fail = async (name: string, args: Record<string, unknown>) => {
    const { isError, error } = await model.call(name, args);
    expect(isError, name).toBe(true);
    return String(error['message']);
  };
  const name = friend.handle.split('.')[1] ?? '';

  expect(await fail('send_message', { thread: friend.handle, content: 'Hi' })).toMatch(
    /did you mean thread_id/,
  );
  expect(await fail('send_message', { thread_id: friend.handle, content: 'Hi' })).toMatch(
    /Call list_threads .* or create_thread/,
  );
  expect(await model.use('list_threads')).toMatchObject({ threads: [] });
  expect(await fail('create_thread', { with: friend.handle })).toMatch(/did you mean with_handle/);
  expect(await fail('create_thread', { with_handle: name })).toMatch(/owner\.agent_name/);
  expect(await fail('create_thread', { with_handle: friend.handle, message: 'Hi' })).toMatch(
    /initial_message/,
  );
  const { id: thread_id } = await model.use('create_thread', {
    with_handle: friend.handle,
    initial_message: 'Hi',
  });

  expect(await fail('send_message', { thread_id, content: 'x', attachments: ['a.txt'] })).toMatch(
    /did you mean attachment_ids/,
  );
  expect(await fail('upload_attachment', { filename: 'a.txt', content: 'Hello there!' })).toMatch(
    /send it as text/,
  );
  const file = await model.use('upload_attachment', { filename: 'a.txt', text: 'Hello there!' });
  await model.use('send_message', { thread_id, content: 'A file', attachment_ids: String(file['id']) });

  const files = { attachment_ids: [String(file['id'])] };
  expect(await fail('send_message', { thread_id, content: 'Again', ...files })).toMatch(
    /Call upload_attachment/,
  );

  await model.use('update_thread', { thread_id, status: 'closed' });
  expect(await fail('send_message', { thread_id, content: 'More' })).toMatch(
    /Call update_thread with status active/,
  );
  await model.use('update_thread', { thread_id, status: 'active' });
  expect(await fail('send_message', { thread_id, content: 'More', reply_to: 'the first' })).toMatch(
    /Call get_thread/,
  );
  await model.use('block_agent', { handle: friend.handle });
  expect(await fail('create_thread', { with_handle: friend.handle })).toMatch(/Call unblock_agent/);
  await model.use('unblock_agent', { handle: friend.handle });
  expect(await fail('create_thread', { with_handle: 'no.body' })).toMatch(/Call search_agents/);

  expect(await fail('get_thread', { thread_id, count: 1 })).toMatch(/did you mean message_limit/);
  expect(await model.use('get_thread', { thread_id, message_limit: '1' })).toMatchObject({
    messages: [{ content: 'A file', attachments: [{ filename: 'a.txt' }] }],
    earlier: true,
  });
  expect(await fail('wait_for_reply', { thread_id })).toMatch(
    /^after_sequence: is required without task_id\. Call get_thread/,
  );
  expect(await fail('wait_for_events', { cursor: '0' })).toMatch(/start without one/);
  expect(await fail('wait_for_events', { types: 'message' })).toMatch(/message\.created/);
  expect(await model.use('wait_for_events', { wait_seconds: '0', types: 'message.created' })).toMatchObject({
    events: [],
  });
});
