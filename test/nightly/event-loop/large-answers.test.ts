import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { expect, test } from 'vitest';
import { callToolRaw, connectSdkClient } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { inboxOf } from '../../integration/inbox/setup.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { startMeasuredApi } from './setup.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const api = use(startMeasuredApi);

const maxContentBytes = 32_768;

/** A text of the largest size. */
const fill = (unit: string, end = '') =>
  unit.repeat(Math.floor((maxContentBytes - Buffer.byteLength(end)) / Buffer.byteLength(unit))) + end;

async function post(token: string, path: string, body: object) {
  const answer = await requestRest('POST', `${api.url}/v1${path}`, { token, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

test(
  'a hundred of the largest messages in events, leases, streams and tools',
  { timeout: 600_000 },
  async () => {
    const bob = await buildAgent(api.cluster.core);
    const inbox = inboxOf(`${api.url}/v1`, bob);
    await inbox.turnOn();
    const { id } = await post(api.ann.token, '/threads', { with_handle: bob.handle });
    const units = ['中文', 'ที่นี่น้ำดีที่สุด', '\u0001', '"\\', 'a\u0301\u0323'];
    for (let index = 0; index < 100; index += 1)
      await post(api.ann.token, `/threads/${id}/messages`, { content: fill(units[index % 5] ?? '', '.') });

    await api.check('a page of events', () =>
      requestRest('GET', `${api.url}/v1/events?limit=100&cursor=earliest`, { token: bob.token }),
    );
    const read = async (token: string) => {
      const socket = await connectWebSocket(api.url, { token, cursor: 'earliest', otherRelease: true });
      await socket.waitUntil(() => socket.events().length >= 100);
      await socket.close();
    };
    await api.check('a WebSocket that resumes', () => read(bob.token));
    await api.check('twenty WebSockets that resume', () =>
      Promise.all(Array.from({ length: 20 }, () => read(bob.token))),
    );
    const mcp = await issueTokenFor(api.cluster.core, bob.handle, { audience: 'mcp' });
    const tools: [string, object][] = [
      ['wait_for_events', { cursor: 'earliest', wait_seconds: 0 }],
      ['get_thread', { thread_id: id, message_limit: 100 }],
      ['list_threads', { unread: true }],
      ['wait_for_reply', { thread_id: id, after_sequence: 0, wait_seconds: 0 }],
    ];
    for (const [name, args] of tools)
      await api.check(`the tool ${name}`, () => callToolRaw(api.url, mcp, name, args));
    const model = stopAfterTest(await connectSdkClient(api.url, mcp));
    await api.check('the prompt catch_up', () => model.client.getPrompt({ name: 'catch_up' }));
    await api.check('the resource of the thread', () =>
      model.client.readResource({ uri: `service://threads/${id}` }),
    );
    await api.check('claims of leases', () => inbox.claim({ max: 100, lease_seconds: 5 }));
    const pages = ['/messages?limit=100', '/messages?limit=100&order=asc'];
    for (const page of pages)
      await api.check(`a page: ${page}`, () =>
        requestRest('GET', `${api.url}/v1/threads/${id}${page}`, { token: bob.token }),
      );
    api.expectNoneSlow();
  },
);

test('threads of many members with large metadata', { timeout: 600_000 }, async () => {
  const members = await Promise.all(Array.from({ length: 254 }, () => buildAgent(api.cluster.core)));
  const participants = members.map(({ handle }) => handle);
  const metadata = { a: '中'.repeat(1_300) };
  const open = () => post(api.ann.token, '/threads', { participants, metadata, initial_message: fill('中') });
  await api.check('a thread of 255 members', open);
  for (let index = 0; index < 100; index += 1) await open();
  await api.check('a page of threads', () =>
    requestRest('GET', `${api.url}/v1/threads?limit=100`, { token: api.ann.token }),
  );
  await api.check('the tool list_threads', () =>
    callToolRaw(api.url, api.mcpToken, 'list_threads', { limit: 100 }),
  );
  await api.check('the conversations of a person', () =>
    requestRest('GET', `${api.url}/v1/conversations?limit=100`, { token: api.ann.token }),
  );
  await api.check('waits', () => requestRest('GET', `${api.url}/v1/waits`, { token: api.ann.token }));
  const { id } = await open();
  const messages = Array.from({ length: 100 }, (_, index) => ({ content: `${index} ${'ß'.repeat(1_000)}` }));
  await api.check('a hundred messages to 255 members', () =>
    post(api.ann.token, `/threads/${id}/messages:batch`, { messages }),
  );
  api.expectNoneSlow();
});

test('pages of the console with nested markup', { timeout: 600_000 }, async () => {
  const { core } = api.cluster;
  const person = await signInPerson({
    core,
    url: api.url,
    async register(agent) {
      throw new Error(`not used: ${agent.handle}`);
    },
  });
  const handle = `${person.username}.agent`;
  await core.unitOfWork.write(system, (work) =>
    registerAgentAsOperator(work, { handle, visibility: 'public', inbound_policy: 'open' }),
  );
  const units = ['> ', '- ', '[', '**a', '|a\n', '[a](', '*a **b ', '- a\n  ', '`', '<a '];
  for (const unit of units) {
    const { id } = await post(api.ann.token, '/threads', { with_handle: handle });
    const content = unit.repeat(Math.floor(6_000 / unit.length));
    for (let index = 0; index < 50; index += 1)
      await post(api.ann.token, `/threads/${id}/messages`, { content, content_type: 'markdown' });
    await api.check(`a conversation of ${JSON.stringify(unit)}`, async () => {
      const page = await person.go(`/console/conversations/${id}`);
      expect([page.status, page.visibleText.includes(handle)]).toEqual([200, true]);
    });
  }
  await api.check('the list of conversations', () => person.go('/console/conversations'));
  api.expectNoneSlow();
});
