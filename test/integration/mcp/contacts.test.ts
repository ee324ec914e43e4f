import { expect, test } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { agentSummary, useContacts } from '../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

/** An agent with a connected SDK client that holds each result to its output schema. */
async function toolUser() {
  const agent = await service.agent();
  const { client, notifications, close } = await connectSdkClient(
    service.url,
    await service.token(agent.handle, { audience: 'mcp' }),
  );
  await client.listTools();
  async function call(name: string, args: Record<string, unknown> = {}) {
    const result = await client.callTool({ name, arguments: args });
    const [content] = Object(result.content);
    const value: unknown = JSON.parse(content.text);
    if (!result.isError) expect(result.structuredContent).toEqual(value);
    return { isError: result.isError === true, value: Object(value) };
  }
  return { agent, client, notifications, call, close };
}

type ToolUser = Awaited<ReturnType<typeof toolUser>>;

const refused = (code: string) => ({ isError: true, value: { error: { code } } });

test('each tool says what it does', async () => {
  const { client, close } = await toolUser();
  const { tools } = await client.listTools();
  const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints.get('list_contacts')).toMatchObject({ readOnlyHint: true });
  expect(hints.get('list_contact_requests')).toMatchObject({ readOnlyHint: true });
  expect(hints.get('respond_to_contact_request')).toMatchObject({
    readOnlyHint: false,
    destructiveHint: false,
  });
  expect(hints.get('block_agent')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(hints.get('unblock_agent')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(hints.get('request_contact')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(hints.get('remove_contact')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  await close();
});

test('requests are listed and answered, and contacts are listed, as REST does it', async () => {
  const user: ToolUser = await toolUser();
  const { agent, call } = user;
  const [bob, cleo] = await Promise.all([service.agent(), service.agent()]);
  const requested = await trust.request(bob, agent.handle, 'Hello');
  const other = await trust.request(cleo, agent.handle);
  expect((await call('list_contact_requests')).value).toMatchObject((await trust.requests(agent)).body);

  const approve = { request_id: requested.body.request_id, decision: 'approve' };
  for (let again = 0; again < 2; again += 1) {
    const { isError, value } = await call('respond_to_contact_request', approve);
    expect([isError, value]).toMatchObject([false, { ...requested.body, status: 'approved' }]);
  }
  const reject = { request_id: other.body.request_id, decision: 'reject' };
  expect((await call('respond_to_contact_request', reject)).value).toMatchObject({
    ...other.body,
    status: 'rejected',
  });
  expect(await call('respond_to_contact_request', { ...reject, decision: 'approve' })).toMatchObject(
    refused('REQUEST_NOT_FOUND'),
  );
  expect(await call('respond_to_contact_request', { ...reject, decision: 'maybe' })).toMatchObject(
    refused('VALIDATION_ERROR'),
  );
  const outgoing = await call('list_contact_requests', { direction: 'outgoing' });
  expect(outgoing.value).toEqual({ requests: [] });

  const contacts = (await trust.contacts(agent)).body;
  expect(contacts.contacts).toMatchObject([{ agent_id: bob.id, canonical_handle: bob.handle }]);
  expect((await call('list_contacts')).value).toEqual(contacts);
  const { contents } = await user.client.readResource({ uri: 'service://contacts' });
  expect(contents).toMatchObject([{ uri: 'service://contacts', mimeType: 'application/json' }]);
  expect(JSON.parse(Object(contents[0]).text)).toEqual(contacts);
  await user.close();
});

test('contacts are listed page by page', async () => {
  const { agent, call, close } = await toolUser();
  const friends: TestAgent[] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  for (const friend of friends) await trust.befriend(friend, agent);
  const first = (await call('list_contacts', { limit: 2 })).value;
  const second = (await call('list_contacts', { limit: 2, cursor: first.next_cursor })).value;
  const seen = [...first.contacts, ...second.contacts].map(({ canonical_handle }) => canonical_handle);
  expect(seen).toEqual(friends.map(({ handle }) => handle).toSorted());
  expect(await call('list_contacts', { cursor: 'x' })).toMatchObject(refused('INVALID_CURSOR'));
  await close();
});

test('an agent is blocked without a question, and unblocked again', async () => {
  const { agent, call, close } = await toolUser();
  const bob = await service.agent();
  await trust.befriend(agent, bob);
  const { value } = await call('block_agent', { handle: `@${bob.handle.toUpperCase()}`, reason: 'spam' });
  expect(value).toMatchObject({ blocked_agent_id: bob.id, blocked_handle: bob.handle });
  const { created_at_text: _text, ...block } = value;
  expect((await trust.blocks(agent)).body).toEqual({ blocks: [block] });
  expect(await trust.areContacts(agent, bob)).toBe(false);
  expect(await call('unblock_agent', { handle: bob.handle })).toEqual({ isError: false, value: {} });
  expect((await trust.blocks(agent)).body).toEqual({ blocks: [] });
  expect(await call('unblock_agent', { handle: bob.handle })).toMatchObject(refused('NOT_FOUND'));
  expect(await call('block_agent', { handle: 'missing.here' })).toMatchObject(refused('AGENT_NOT_FOUND'));
  expect(await call('block_agent', { handle: agent.handle })).toMatchObject(refused('VALIDATION_ERROR'));
  await close();
});

test('contact events are notifications, with the data of the socket', async () => {
  const { agent, notifications, close } = await toolUser();
  const bob = await service.agent();
  // The stream opens by itself, some time after the connection; what comes before is not seen.
  await expect
    .poll(async () => {
      const requested = await trust.request(bob, agent.handle, 'Hello');
      if (notifications.length === 0) await trust.reject(agent, requested.body.request_id);
      return notifications.length;
    })
    .toBeGreaterThan(0);
  expect(notifications[0]).toMatchObject({
    method: 'notifications/service/contact_request',
    params: { from: agentSummary(bob), message: 'Hello' },
  });
  await close();
});
