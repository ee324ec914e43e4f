import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { a2aAddress, createA2aClient, followTask, toSeenUpdates } from '../../clients/a2a.ts';
import { followFeed } from '../../clients/feed.ts';
import { findForm } from '../../clients/form-browser.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { useService } from '../../support/service.ts';
import { use } from '../../support/use.ts';
import { type Owner, signInWithAgent } from '../console/signed-in-person.ts';
import { connectModel, inboxOf, type Lease } from '../inbox/setup.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { changesIn, tasksOf } from './setup.ts';

const service = useService({ env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const receiver = use(startWebhookReceiver);
const { openTask, stateOf, send, report } = tasksOf(service);

interface Task {
  id: string;
  thread_id: string;
}

/** One way in which an asked agent works. */
interface Way {
  /** Resolves when the agent has received a message. */
  receive(message_id: string): Promise<unknown>;
  begin(task: Task): Promise<unknown>;
  askBack(task: Task): Promise<unknown>;
  answer(task: Task): Promise<unknown>;
}

const question = { state: 'input_required', message: 'Which order?' };
const reply = 'Tomorrow.';

/** What an agent does over REST, whatever told it of the message. */
const overRest = ({ mine }: Owner): Omit<Way, 'receive'> => ({
  begin: ({ id }) => report(mine, id, { state: 'working' }),
  askBack: ({ id }) => report(mine, id, question),
  answer: ({ thread_id }) => send(mine, thread_id, { content: reply }),
});

/** An agent of a person, as a model that calls tools. */
const withTools = (tool: (name: string, args: object) => Promise<{ value: unknown }>): Way => ({
  async receive(message_id) {
    for (let text = ''; !text.includes(message_id);)
      text = JSON.stringify(await tool('wait_for_events', { types: ['message.created'], wait_seconds: 20 }));
  },
  begin: ({ id }) => tool('update_task', { task_id: id, state: 'working' }),
  askBack: ({ id }) => tool('update_task', { task_id: id, ...question }),
  answer: ({ thread_id }) => tool('send_message', { thread_id, content: reply }),
});

const ways: Record<string, (owner: Owner) => Promise<Way>> = {
  async WebSocket({ mine }) {
    const caller = await connectCaller(mine, service);
    onTestFinished(() => caller.socket.close());
    return {
      receive: (message_id) => caller.socket.next(({ data }) => Object(data).id === message_id),
      begin: ({ id }) => call(caller, 'update_task', { task_id: id, state: 'working' }),
      askBack: ({ id }) => call(caller, 'update_task', { task_id: id, ...question }),
      answer: ({ thread_id }) => call(caller, 'send_message', { thread_id, content: reply }),
    };
  },
  async 'long poll and REST'(owner) {
    let { cursor } = (await service.get(owner.mine, '/events')).body;
    return {
      ...overRest(owner),
      async receive(message_id) {
        for (let text = ''; !text.includes(message_id);) {
          const page = await service.get(owner.mine, `/events?cursor=${cursor}&wait=20`);
          ({ text } = page);
          ({ cursor } = page.body);
        }
      },
    };
  },
  async 'MCP 2025-11-25'({ mine }) {
    const { tool, close } = await connectModel(service, mine);
    onTestFinished(close);
    return withTools(tool);
  },
  async 'MCP 2026-07-28'({ mine }) {
    const token = await service.token(mine.handle, { audience: 'mcp' });
    return withTools(async (name, args) => {
      const params = { name, arguments: args };
      const { result } = await askStateless(service.url, token, { method: 'tools/call', params });
      return { value: result?.['structuredContent'] };
    });
  },
  async 'signed webhook and REST'(owner) {
    const token = await service.token(owner.mine.handle, { scopes });
    const url = `${receiver.url}/asked`;
    const { body } = await service.post({ token }, '/webhooks', { url, event_types: ['message.created'] });
    const find = (message_id: string) =>
      receiver.postsAt('/asked').find(({ json }) => json.data.id === message_id);
    return {
      ...overRest(owner),
      async receive(message_id) {
        await expect.poll(() => find(message_id)).toBeDefined();
        const { text, headers, json } = find(message_id) ?? expect.fail('no post');
        const signed = headers as Record<string, string>;
        expect(new Webhook(body.secret).verify(text, signed)).toEqual(json);
      },
    };
  },
  async 'inbox lease'({ mine }) {
    const inbox = inboxOf(service.api, mine);
    await inbox.turnOn();
    onTestFinished(async () => void (await inbox.turnOff()));
    let lease: Lease | undefined;
    const acknowledge = (body: object) => inbox.acknowledge(lease?.id ?? '', body);
    return {
      async receive(message_id) {
        [lease] = await inbox.leases({ max: 1, wait_seconds: 20 });
        expect(lease?.event.data.id).toBe(message_id);
      },
      // The claim began it.
      begin: () => Promise.resolve(),
      askBack: () => acknowledge({ reply: question.message, task_state: question.state }),
      answer: () => acknowledge({ reply }),
    };
  },
  // The program of the agent begins and asks back, and its person answers.
  async 'person in the console'(owner) {
    return {
      ...overRest(owner),
      receive: async () => {},
      async answer({ thread_id }) {
        const address = `/console/conversations/${thread_id}`;
        const form = findForm(await owner.go(address), `${address}/messages`);
        await owner.send(form, { fields: { content: reply } });
      },
    };
  },
};

test('every way of working moves a task through the same updates', async () => {
  const [client, owner] = await Promise.all([service.agent(), signInWithAgent(service)]);
  const thread_id = await service.thread(client, owner.mine);
  const asA2aClient = createA2aClient('JSONRPC', a2aAddress(service.url, owner.mine.handle), client.token);
  const feeds = await Promise.all([client, owner.mine].map(({ token }) => followFeed(service.api, token)));
  for (const [name, connect] of Object.entries(ways)) {
    const way = await connect(owner);
    const task = await openTask(client, owner.mine, { thread_id });
    const streamed = await followTask(asA2aClient, task.id);
    const states = [await stateOf(client, task.id)];
    await way.receive(task.message_id);
    for (const step of [
      way.begin,
      way.askBack,
      () => send(client, thread_id, { content: '1042' }).then(({ body }) => way.receive(body.id)),
      way.answer,
    ]) {
      await step(task);
      states.push(await stateOf(client, task.id));
    }
    expect(states, name).toEqual([
      ['submitted', 1],
      ['working', 2],
      ['input_required', 3],
      ['working', 4],
      ['completed', 6],
    ]);
    const changes = [
      ['created', 'submitted', 1],
      ['state', 'working', 2],
      ['state', 'input_required', 3],
      ['state', 'working', 4],
      ['result', 'working', 5],
      ['state', 'completed', 6],
    ];
    for (const feed of feeds) expect(changesIn(await feed()), name).toEqual(changes);
    expect(await streamed.seen, name).toEqual(toSeenUpdates(changes));
  }
});
