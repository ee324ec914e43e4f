import { expect, test } from 'vitest';
import { connectWebSocket } from '../../clients/websocket.ts';
import { type TestAgent, useService } from '../../support/service.ts';
import { connectModel, contentsOf, readToEnd } from '../../acceptance/first-steps/model.ts';
import { stopAfterTest } from '../../support/use.ts';

const service = useService();

/** More than one page of events. */
const contents = Array.from({ length: 120 }, (_, index) => `message ${index + 1}`);

/** An agent to which all messages were sent before any of its programs started. */
async function createLateAgent(): Promise<{ late: TestAgent; send(content: string): Promise<void> }> {
  const [writer, late] = await Promise.all([service.agent(), service.agent()]);
  const post = async (path: string, body: object) => {
    const { status, text, body: created } = await service.post(writer, path, body);
    expect([200, 201], text).toContain(status);
    return created;
  };
  const { id } = await post('/threads', { with_handle: late.handle });
  const send = (content: string) => post(`/threads/${id}/messages`, { content });
  for (let sent = 0; sent < contents.length; sent += 60) {
    const messages = contents.slice(sent, sent + 60).map((content) => ({ content }));
    await post(`/threads/${id}/messages:batch`, { messages });
  }
  return { late, send };
}

test('a program that starts later gets every message over REST, from its first request on', async () => {
  const { late, send } = await createLateAgent();
  const read = async (query: string) => {
    const { status, body } = await service.get(late, `/events?limit=100${query}`);
    expect(status).toBe(200);
    return body;
  };
  const first = await read('');
  const second = await read(`&cursor=${first.cursor}`);
  expect([first.complete, second.complete]).toEqual([false, true]);
  expect([first, second].flatMap(contentsOf)).toEqual(contents);
  // Nothing is acknowledged, so a restart begins again; after the acknowledgement it begins with what is new.
  expect(contentsOf(await read(''))).toEqual(contentsOf(first));
  const { cursor } = second;
  await service.post(late, '/events/ack', { cursor });
  await send('after the acknowledgement');
  expect(contentsOf(await read(''))).toEqual(['after the acknowledgement']);
});

test('a program that starts later learns over WebSocket that events are waiting, and gets all of them from earliest', async () => {
  const { late, send } = await createLateAgent();
  const live = stopAfterTest(await connectWebSocket(service.url, { token: late.token }));
  expect(live.ready).toMatchObject({ resumed: false, pending_events: 100 });
  const all = stopAfterTest(await connectWebSocket(service.url, { token: late.token, cursor: 'earliest' }));
  await send('live');
  const seenBy = (client: typeof all) => () => contentsOf({ events: client.events() });
  await expect.poll(seenBy(all)).toEqual([...contents, 'live']);
  await expect.poll(seenBy(live)).toEqual(['live']);
});

test('a model that starts later sees how much is waiting, and gets all of it over MCP, once', async () => {
  const { late, send } = await createLateAgent();
  const token = await service.token(late.handle, { audience: 'mcp' });
  const model = await connectModel(service, token);
  expect(await model.use('whoami')).toMatchObject({ pending_events: 100 });
  expect(await readToEnd(model)).toEqual(contents);
  await send('next');
  expect(await readToEnd(model)).toEqual(['next']);
  // Nothing is acknowledged: the next conversation starts with everything. After the acknowledgement it does not.
  await model.leave();
  const second = await connectModel(service, token);
  expect(await readToEnd(second)).toEqual([...contents, 'next']);
  const { cursor } = await second.use('wait_for_events', { wait_seconds: 0 });
  expect(await second.use('acknowledge_events', { cursor })).toEqual({ pending_events: 0 });
  await second.leave();
  const third = await connectModel(service, token);
  expect(await third.use('whoami')).toMatchObject({ pending_events: 0 });
  expect(await readToEnd(third)).toEqual([]);
});
