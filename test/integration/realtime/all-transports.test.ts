import { describe, expect, test } from 'vitest';
import { callToolRaw, connectSdkClient } from '../../clients/mcp/client.ts';
import { type Backend, startService } from '../../support/service.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { use } from '../../support/use.ts';

function testAllTransports(backend: Backend): void {
  const service = use(() => startService({ backend }));

  test('what one agent sends, the other receives over every transport with one cursor', async () => {
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const bobMcp = await service.token(bob.handle, { audience: 'mcp' });
    const socket = await connectWebSocket(service.url, { token: bob.token });
    const mcp = await connectSdkClient(service.url, bobMcp);
    expect(socket.ready).toMatchObject({ agent_id: bob.id, resumed: false, gap: false });

    const body = { with_handle: bob.handle, subject: 'Hi', initial_message: 'one' };
    const thread = await service.post(ann, '/threads', body);
    const two = await service.post(ann, `/threads/${thread.body.id}/messages`, { content: 'two' });
    const three = await callToolRaw(service.url, bobMcp, 'send_message', {
      thread_id: thread.body.id,
      content: 'three',
    });

    const last = await socket.next(
      (frame) => frame.type === 'message.created' && (frame.data as { content?: string }).content === 'three',
    );
    const live = socket.events();
    expect(live.map((frame) => frame.type)).toEqual([
      'thread.created',
      'message.created',
      'message.created',
      'message.created',
    ]);
    const { initial_message_id: _id, ...record } = thread.body;
    expect(live[0]?.data).toEqual({
      ...record,
      created_by: ann.handle,
      created_by_id: ann.id,
      last_message_at: null,
      last_sequence: 0,
    });
    expect(live[2]?.data).toEqual(two.body);
    const { created_at, id, sequence } = three.value;
    expect(last.data).toMatchObject({ created_at, id, sequence });

    await expect.poll(() => mcp.notifications.length).toBe(4);
    expect(mcp.notifications.map(({ method }) => method)).toEqual([
      'notifications/service/thread_created',
      'notifications/service/message_created',
      'notifications/service/message_created',
      'notifications/service/message_created',
    ]);
    const poll = await service.get(bob, `/events?cursor=${socket.ready.cursor}&wait=20`);
    expect(poll.body.events).toEqual(live);
    expect(poll.body).toMatchObject({ complete: true, cursor: last.cursor });

    // A cursor from one transport resumes on every other one.
    const middle = String(live[1]?.cursor);
    const resumed = await connectWebSocket(service.url, { token: bob.token, cursor: middle });
    await resumed.next((frame) => frame.id === last.id);
    expect(resumed.events()).toEqual(live.slice(2));
    const page = await service.get(bob, `/events?cursor=${middle}`);
    expect(page.body.events).toEqual(live.slice(2));
    await Promise.all([socket.close(), resumed.close(), mcp.close()]);
  });

  test('every job of a commit runs: the message is indexed, and the outbox becomes empty', async () => {
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const body = { with_handle: bob.handle, initial_message: 'Où est le café?' };
    const thread = await service.post(ann, '/threads', body);
    const indexed = () =>
      service.sql<{ found: boolean }>(
        `select document @@ to_tsquery('simple', 'cafe') as found from message_search where message_id = $1`,
        [thread.body.initial_message_id],
      );
    await expect.poll(indexed).toEqual([{ found: true }]);
    await expect.poll(() => service.core.db.outbox.readAge()).toEqual({ rows: 0, oldest: null });
  });
}

describe('all transports, queues and bus on PostgreSQL', () => testAllTransports('postgres'));
await describeWithRedis('all transports, queues and bus on Redis', () => testAllTransports('redis'));
