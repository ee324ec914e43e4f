import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOpenTask, type TaskState } from '../../../packages/core/src/domain/tasks.ts';
import {
  a2aAddress,
  createA2aClient,
  followTask,
  type SeenUpdate,
  toSeenUpdates,
} from '../../clients/a2a.ts';
import { followFeed } from '../../clients/feed.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type TestAgent, useService } from '../../support/service.ts';
import { use } from '../../support/use.ts';
import { inboxOf } from '../inbox/setup.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { changesIn, tasksOf } from './setup.ts';

const service = useService({ env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const receiver = use(() => startWebhookReceiver({ isDescribed: false }));
const { pair, openTask, read, send, report, cancel } = tasksOf(service);

interface World {
  client: TestAgent;
  agent: TestAgent;
  id: string;
  thread_id: string;
  message_id: string;
}

type Action = (world: World) => Promise<unknown>;

const claimAnd =
  (end: (inbox: ReturnType<typeof inboxOf>, lease: string) => Promise<unknown>): Action =>
  async ({ agent }) => {
    const inbox = inboxOf(service.api, agent);
    for (const lease of await inbox.leases({ max: 2 })) await end(inbox, lease.id);
  };

/** Everything that both sides can do to one task, through REST, an inbox, a WebSocket or MCP. */
const actions: Record<string, Action> = {
  reply: ({ agent, thread_id }) => send(agent, thread_id, {}),
  'explicit reply': ({ agent, thread_id, message_id }) => send(agent, thread_id, { reply_to: message_id }),
  'client writes': ({ client, thread_id }) => send(client, thread_id, {}),
  working: ({ agent, id }) => report(agent, id, { state: 'working' }),
  'working with a message': ({ agent, id }) => report(agent, id, { state: 'working', message: 'Half.' }),
  'asks back': ({ agent, id }) => report(agent, id, { state: 'input_required', message: 'Which?' }),
  completed: ({ agent, id }) => report(agent, id, { state: 'completed', data: { x: 1 } }),
  failed: ({ agent, id }) => report(agent, id, { state: 'failed' }),
  cancel: ({ client, id }) => cancel(client, id),
  'claim, acknowledge with a reply': claimAnd((inbox, lease) => inbox.acknowledge(lease, { reply: 'x' })),
  'claim, release': claimAnd((inbox, lease) => inbox.release(lease)),
  'a tool over MCP': async ({ agent, id }) => {
    const token = await service.token(agent.handle, { audience: 'mcp' });
    return callToolRaw(service.url, token, 'update_task', {
      task_id: id,
      state: 'working',
      message: 'Soon.',
    });
  },
  'a tool of revision 2026-07-28': async ({ client, id }) => {
    const token = await service.token(client.handle, { audience: 'mcp' });
    const params = { name: 'cancel_task', arguments: { task_id: id } };
    return askStateless(service.url, token, { method: 'tools/call', params });
  },
  'a call over WebSocket': async ({ agent, id }) => {
    const caller = await connectCaller(agent, service);
    await call(caller, 'update_task', { task_id: id, state: 'auth_required', message: 'Sign in.' });
    await caller.socket.close();
  },
};

const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';

/** The updates that the receiver of a task got. */
const calledBack = (id: string): SeenUpdate[] =>
  receiver.postsAt(`/${id}`).map(({ headers, json: { statusUpdate } }) => {
    const generation = Number(String(headers['webhook-id']).split('-').at(-1));
    return [generation, statusUpdate ? statusUpdate.status.state : 'result'];
  });

test('random concurrent actions of both sides give one order, in rows, events, reads, streams and callbacks', async () => {
  const names = fc.array(fc.constantFrom(...Object.keys(actions)), { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(names, async (chosen) => {
      const [client, agent] = await pair();
      await inboxOf(service.api, agent).turnOn();
      const feeds = await Promise.all([client, agent].map(({ token }) => followFeed(service.api, token)));
      const world = { ...(await openTask(client, agent)), client, agent };
      const asA2aClient = createA2aClient('HTTP+JSON', a2aAddress(service.url, agent.handle), client.token);
      const streaming = await followTask(asA2aClient, world.id);
      const config = { taskId: world.id, url: `${receiver.url}/${world.id}` };
      await asA2aClient.call('CreateTaskPushNotificationConfig', config);
      const answers = await Promise.all(chosen.map(async (name) => actions[name]?.(world)));
      expect(answers.filter((answer) => Number(Object(answer).status) >= 500)).toEqual([]);
      const rows = await service.sql<{ change: string; state: TaskState; generation: number }>(
        'select change, state, generation from task_updates where task_id = $1 order by generation',
        [world.id],
      );
      expect(rows.map(({ generation }) => generation)).toEqual(rows.map((_, at) => at + 1));
      expect(rows.slice(0, -1).every(({ state }) => isOpenTask(state))).toBe(true);
      const changes = rows.map(({ change, state, generation }) => [change, state, generation]);
      for (const feed of feeds) expect(changesIn(await feed())).toEqual(changes);
      const { state, generation } = await read(client, world.id);
      expect([state, generation]).toEqual(changes.at(-1)?.slice(1));
      if (isOpenTask(state)) await cancel(client, world.id);
      const streamed = await streaming.seen;
      const all = toSeenUpdates([
        ...changes,
        ...(isOpenTask(state) ? [['state', 'canceled', generation + 1]] : []),
      ]);
      // The task may have ended while no stream was open.
      expect(streamed).toEqual(all.slice(0, streamed.length));
      if (!all.some(([, what]) => what === 'TASK_STATE_INPUT_REQUIRED'))
        expect(streamed).toHaveLength(all.length);
      await expect.poll(() => calledBack(world.id)).toEqual(all);
      const options = { headers: { 'A2A-Extensions': mailbox } };
      const { result } = await asA2aClient.call('GetTask', { id: world.id }, options);
      const last = all.at(-1) ?? expect.fail('no end');
      expect([result.metadata[mailbox].generation, result.status.state]).toEqual(last);
      expect(result.artifacts ?? []).toHaveLength(all.filter(([, what]) => what === 'result').length);
    }),
    { numRuns: 25 },
  );
});
