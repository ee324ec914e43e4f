import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../../../packages/core/src/domain/ids.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { catalogue } from '../../../../src/operations/catalogue.ts';
import type { Operation } from '../../../../src/operations/define.ts';
import { pathsOf } from '../../../../src/transports/rest/route.ts';
import { maskResponse } from '../../../support/mask-response.ts';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import { allTestScopes, type TestAgent, useSharedService } from '../../../support/service.ts';
import { upload } from '../../attachments/setup.ts';
import { inboxOf } from '../../inbox/setup.ts';
import { newAgentName, createPolicyFixtures, type PolicyFixtures } from './policy-fixtures.ts';

/**
 * No caller can detect a hidden resource. For every operation and every field that names a resource,
 * the response for a hidden resource equals the response for an absent one, byte for byte.
 */

type Value = string | readonly string[] | readonly object[];

/** What the fields of operations can name. Add new fields here, or the test that counts them fails. */
type Names =
  | 'agent'
  | 'agents'
  | 'agent id'
  | 'owner and name'
  | 'thread'
  | 'message'
  | 'messages of a batch'
  | 'upload'
  | 'uploads'
  | 'webhook'
  | 'delivery'
  | 'approval'
  | 'lease'
  | 'leases'
  | 'dead item'
  | 'task'
  | 'nothing hidden';

const fields: Record<string, Names> = {
  handle: 'agent',
  with_handle: 'agent',
  participants: 'agents',
  agent: 'agent',
  agent_ref: 'agent',
  agent_id: 'agent',
  member_ref: 'agent',
  request_ref: 'agent',
  request_id: 'agent',
  counterpart: 'agent',
  from: 'agent',
  entry: 'agent',
  agent_name: 'owner and name',
  owner: 'owner and name',
  thread_id: 'thread',
  reply_to: 'message',
  message_id: 'message',
  replaces: 'message',
  messages: 'messages of a batch',
  attachment_id: 'upload',
  attachment_ids: 'uploads',
  webhook_id: 'webhook',
  delivery_id: 'delivery',
  approval_id: 'approval',
  lease_id: 'lease',
  ids: 'leases',
  item_id: 'dead item',
  task_id: 'task',
  of: 'agent',
  organization: 'nothing hidden',
};

const naming =
  /(^|_)(id|ids|ref|refs|messages|handle|owner|agent|agents|participants|to|from|of|counterpart|entry|organization)$|^agent_name$|^replaces$/;

const service = useSharedService();
let worlds: PolicyFixtures;
let viewer: TestAgent;
let thread: string;
let webhook: string;
/** For each kind the absent, hidden, retired and malformed values: all must get the same response. */
let hidden: Record<
  Exclude<Names, 'nothing hidden' | 'owner and name' | 'messages of a batch'>,
  readonly (string | readonly string[])[]
>;

beforeAll(async () => {
  worlds = createPolicyFixtures(service);
  viewer = await worlds.agentOf(newAgentName(), 'personal');
  const scopes = [...allTestScopes, 'agents:write', 'approvals:write', 'conversations:read'] as const;
  viewer = { ...viewer, token: await service.token(viewer.handle, { scopes }) };
  const friend = await worlds.agentOf(newAgentName(), 'personal');
  thread = await worlds.threadOf(viewer, friend.handle);
  const [secret, other, gone] = await Promise.all(
    Array.from({ length: 3 }, () => worlds.agentOf(newAgentName(), 'personal')),
  );
  if (!secret || !other || !gone) throw new Error('there are no agents');
  const theirs = await worlds.threadOf(secret, other.handle);
  const said = await worlds.post(`/threads/${theirs}/messages`, secret, { content: 'x' });
  const [theirLease, theirDeadItem] = await createLeaseAndDeadItem(secret, other, theirs);
  const theirTask = await worlds.post('/tasks', secret, { thread_id: theirs, content: 'x' });
  expect(theirTask.status).toBe(201);
  const leases = [newId('lease'), theirLease, 'lse_nonsense'];
  // The hidden agent has its own request, contact and block, so that there is something to find.
  await worlds.post('/contacts/requests', secret, { handle: other.handle });
  await worlds.post('/blocks', secret, { handle: viewer.handle });
  const hide = { token: secret.token, body: { visibility: 'private' } };
  expect((await requestRest('PATCH', `${service.api}/agents/${secret.id}`, hide)).status).toBe(200);
  expect((await service.delete(gone, `/agents/${gone.id}`)).status).toBe(204);
  const file = await upload(service, secret, { bytes: Buffer.from('a file of others') });
  const promised = await worlds.post('/attachments/uploads', secret, promise);
  expect([file.status, promised.status]).toEqual([201, 201]);
  const uploads = [newId('attachment'), file.body.id, promised.body.attachment_id, 'att_nonsense'];
  const agents = ['absent.here', secret.handle, gone.handle];
  // Any URL will do, because nothing is posted.
  const posting = { url: 'https://receiver.example.com/' };
  webhook = (await worlds.post('/webhooks', viewer, posting)).body.id;
  const theirWebhook = await worlds.post('/webhooks', secret, posting);
  const question = {
    agent_id: secret.id,
    action: 'request_contact',
    target: other.handle,
    detail: {},
  } as const;
  const theirQuestion = await service.write((work) => openApproval(work, question));
  expect(theirQuestion).not.toBeNull();
  hidden = {
    agent: agents,
    'agent id': [newId('agent'), secret.id, gone.id],
    agents: agents.map((handle) => [handle]),
    thread: [newId('thread'), theirs, 'thd_nonsense'],
    message: [newId('message'), said.body.id],
    upload: uploads,
    uploads: uploads.map((id) => [id]),
    webhook: [newId('webhook'), theirWebhook.body.id, 'whk_nonsense'],
    delivery: [newId('event'), 'evt_nonsense'],
    approval: [newId('approval'), theirQuestion?.id ?? '', 'apr_nonsense'],
    lease: leases,
    leases: leases.map((id) => [id]),
    task: [newId('task'), theirTask.body.id, 'tsk_nonsense'],
    'dead item': [newId('event'), theirDeadItem, 'evt_nonsense'],
  };
});

/** A lease and a dead item of an agent, from two messages of another one in their thread. The inbox of the viewer is on, too. */
async function createLeaseAndDeadItem(agent: TestAgent, sender: TestAgent, thread_id: string) {
  const inbox = inboxOf(service.api, agent);
  const on = [await inbox.turnOn({ max_attempts: 1 }), await inboxOf(service.api, viewer).turnOn()];
  expect(on.map(({ status }) => status)).toEqual([200, 200]);
  for (const content of ['one', 'two'])
    await worlds.post(`/threads/${thread_id}/messages`, sender, { content });
  const [dead] = await inbox.leases();
  await inbox.release(dead?.id ?? '');
  const [lease] = await inbox.leases({ lease_seconds: 3_600 });
  return [lease?.id ?? '', String(dead?.event.id)] as const;
}

const promise = { filename: 'x.txt', content_type: 'text/plain', size: 1 };

const operations = catalogue.filter(({ rest: face }) => face);

const propertiesOf = (operation: Operation): string[] =>
  Object.keys(z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }).properties ?? {});

/** One call in the short form, with this field set. Other fields come from the example, unless they must exist. */
async function call(operation: Operation, values: Record<string, Value>): Promise<RestResponse> {
  const face = operation.rest;
  const [path = ''] = face ? pathsOf(face) : [];
  const example = operation.example?.input ?? {};
  const input: Record<string, unknown> = {
    ...example,
    ...('thread_id' in example && { thread_id: thread }),
    ...('webhook_id' in example && { webhook_id: webhook }),
    ...values,
  };
  if (values['participants']) delete input['with_handle'];
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name));
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const left = Object.entries(input).filter(([name]) => !inPath.has(name));
  const { token } = viewer;
  if (face?.method === 'GET') {
    const query = new URLSearchParams(Object.fromEntries(left.map(([name, value]) => [name, String(value)])));
    return service.get({ token }, `${address}?${query.toString()}`);
  }
  return requestRest(face?.method ?? '', `${service.api}${address}`, {
    token,
    body: Object.fromEntries(left),
  });
}

test('every field that names a resource is listed here', () => {
  const unknown = operations.flatMap((operation) =>
    propertiesOf(operation)
      .filter((name) => naming.test(name) && !Object.hasOwn(fields, name))
      .map((name) => `${operation.name}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

/** Fields that give a new record its name, so that they name no other one. */
const newNames = new Set(['add_remote_agent handle']);

/** Every operation with every field that can name a hidden resource; owner and agent_name name it together. */
const cases = operations.flatMap((operation) => {
  const names = propertiesOf(operation).filter(
    (name) =>
      (fields[name] ?? 'nothing hidden') !== 'nothing hidden' && !newNames.has(`${operation.name} ${name}`),
  );
  const parts = names.filter((name) => fields[name] === 'owner and name');
  const single = names.filter((name) => !parts.includes(name));
  return [...single, ...(parts.length > 0 ? ['owner and name'] : [])].map(
    (name) => [operation.name, name, operation] as const,
  );
});

/** The values that must get the same response, as fields of the input; one list for each way to name the resource. */
function likes(name: string): Record<string, Value>[][] {
  const kind = name === 'owner and name' ? name : (fields[name] ?? 'nothing hidden');
  if (kind === 'nothing hidden') throw new Error(`${name} names nothing that is hidden`);
  if (kind === 'owner and name') {
    const handles = hidden.agent.map((handle) => String(handle).split('.'));
    return [handles.map(([owner = '', agent_name = '']) => ({ owner, agent_name }))];
  }
  if (kind === 'messages of a batch') {
    const part = (field: string) => (value: Value) => [{ [name]: [{ content: 'x', [field]: value }] }];
    return [hidden.message.flatMap(part('reply_to')), hidden.uploads.flatMap(part('attachment_ids'))];
  }
  const kinds = kind === 'agent' ? (['agent', 'agent id'] as const) : ([kind] as const);
  return kinds.map((one) => hidden[one].map((value) => ({ [name]: value })));
}

/** The names in a value; `x` is the content of messages. */
const listNames = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value].filter((name) => name !== 'x')
    : Object.values(Object(value) as object).flatMap(listNames);

test.each(cases)('%s: %s', async (_operation, name, operation) => {
  for (const alike of likes(name)) {
    const answers = await Promise.all(
      alike.map(async (values) => {
        const answer = await call(operation, values);
        expect(answer.status, 'an internal error is no valid response').not.toBe(500);
        return maskResponse(answer, { value: listNames(values) });
      }),
    );
    for (const answer of answers) expect(answer).toBe(answers[0]);
  }
});
