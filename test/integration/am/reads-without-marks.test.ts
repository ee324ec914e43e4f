import { expect, test } from 'vitest';
import { fakeService } from '../../../packages/client/src/testing/main.ts';
import { createClient } from '../../../packages/client/src/node/main.ts';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { runAm, startAm, tokenEnv } from '../../clients/am.ts';
import { useConsole } from '../console/setup.ts';
import { startThread, sendTo } from '../console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../console/signed-in-person.ts';

const site = useConsole();

/** A person's agent with unread messages, and how many it has. */
async function agentWithUnread(count = 30) {
  const { service } = site;
  const [person, sender] = [await signInPerson(service), await service.agent()];
  const agent = await person.agent();
  const thread_id = await startThread(service, sender, [agent], { content: 'hello 1' });
  for (let number = 2; number <= count; number += 1)
    await sendTo(service, sender, thread_id, `hello ${number}`);
  const client = createClient({ url: service.url, auth: agent.token });
  const unread = async () => (await client.threads.get({ thread_id })).unread_count;
  expect(await unread()).toBe(count);
  return { service, person, sender, agent, thread_id, client, unread };
}

test('am marks nothing as read but with read', async () => {
  const { service, sender, agent, thread_id, unread } = await agentWithUnread();
  const env = await tokenEnv(service.url, agent.token);
  for (const args of [['threads'], ['inbox'], ['search', 'hello'], ['send', thread_id, 'own'], ['whoami']])
    expect(await runAm(args, { env })).toMatchObject({ code: 0 });
  const listening = startAm(['listen', '--json'], { env });
  const following = startAm(['inbox', '--follow', '--json'], { env });
  const waking = startAm(['wake', '--agent-harness', 'command', '--exec', 'true'], { env });
  await expect.poll(() => listening.out()).toContain('hello 30');
  await expect.poll(() => waking.out()).toContain('30 unread messages');
  const asking = startAm(['ask', thread_id, 'And?', '--wait', '30'], { env });
  await expect.poll(() => listening.out()).toContain('And?');
  await sendTo(service, sender, thread_id, 'the answer');
  expect((await asking.ended).out).toContain('the answer');
  await Promise.all([listening.stop(), following.stop(), waking.stop()]);
  expect(await unread()).toBe(31);
});

test('no tool, resource or prompt but mark_read marks messages as read', async () => {
  const { service, agent, thread_id, unread } = await agentWithUnread(3);
  const { client, close } = await connectSdkClient(
    service.url,
    await service.token(agent.handle, { audience: 'mcp' }),
  );
  const calls: [string, Record<string, unknown>][] = [
    ['list_threads', { unread: true }],
    ['get_thread', { thread_id, message_limit: 1 }],
    ['get_thread', { thread_id }],
    ['search_messages', { query: 'hello' }],
    ['wait_for_events', { wait_seconds: 1 }],
    ['wait_for_reply', { thread_id, after_sequence: 1, wait_seconds: 1 }],
    ['send_message', { thread_id, content: 'own' }],
  ];
  for (const [name, args] of calls) {
    const result = await client.callTool({ name, arguments: args });
    expect(result, name).not.toMatchObject({ isError: true });
  }
  await client.readResource({ uri: `service://threads/${thread_id}` });
  await client.getPrompt({ name: 'catch_up' });
  await close();
  expect(await unread()).toBe(3);
});

test('pages of the console mark nothing as read', async () => {
  const { person, thread_id, unread } = await agentWithUnread(60);
  for (const path of ['/console', '/console/conversations', `/console/conversations/${thread_id}`]) {
    const page = await person.go(path);
    expect([path, page.status]).toEqual([path, 200]);
  }
  expect(await unread()).toBe(60);
});

test('the client library and the fake service mark only up to the given message', async () => {
  const fake = await fakeService();
  const [ann, bob] = [fake.agent('acme.ann'), fake.agent('acme.bob')];
  const [asAnn, asBob] = [ann, bob].map(({ token }) => createClient({ url: fake.url, auth: token }));
  const thread = await asAnn?.threads.create({ with_handle: 'acme.bob' });
  const thread_id = String(thread?.id);
  for (let count = 0; count < 5; count += 1) await asAnn?.messages.send({ thread_id, content: 'hello' });
  expect((await asBob?.messages.list({ thread_id }).page())?.messages).toHaveLength(5);
  for await (const event of asBob?.events() ?? [])
    if (event.type === 'message.created' && event.data.sequence === 5) break;
  const unread = async () => (await asBob?.threads.get({ thread_id }))?.unread_count;
  expect(await unread()).toBe(5);
  await asBob?.threads.markRead({ thread_id, up_to_sequence: 2 });
  expect(await unread()).toBe(3);
  await fake.stop();
});
