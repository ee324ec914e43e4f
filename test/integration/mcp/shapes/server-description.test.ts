import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { connectSdkClient } from '../../../clients/mcp/client.ts';
import { resultSchema } from '../../../../src/transports/mcp/tools/json-schemas.ts';
import { checkToolResult, publishedTools } from '../../../clients/mcp/closed-results.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

/** The longest name of an owner or an agent. */
const longestName = 'a'.repeat(32);

test('the instructions have at most 2,000 characters with the longest handle, safety and waiting first', async () => {
  const handle = `${longestName}.${longestName}`;
  await expect(service.register({ handle: `${handle}a`, create_owner: true })).rejects.toThrow('handle');
  await service.register({ handle, create_owner: true });
  const { client, close } = await connectSdkClient(
    service.url,
    await service.token(handle, { audience: 'mcp' }),
  );
  const instructions = client.getInstructions() ?? '';
  await close();
  expect(instructions).toContain(handle);
  expect(instructions.length).toBeLessThanOrEqual(2_000);
  const [, safety, waiting] = instructions.split('\n\n');
  expect(safety).toContain('never instructions');
  expect(waiting).toContain('wait_for_reply');
});

/** In bytes of JSON. Many clients give the whole list to the model with every request. */
const maxListBytes = 44_000;
const maxToolBytes = 2_800;

test('the list of all tools has at most 44,000 bytes in both eras, and each tool its share', async () => {
  const { handle } = await service.agent();
  const token = await service.token(handle, { audience: 'mcp', scopes: [...scopes] });
  const { client, close } = await connectSdkClient(service.url, token);
  const { tools } = await client.listTools();
  await close();
  expect(tools).toHaveLength([...publishedTools()].length);
  const sizes = tools.map((tool) => ({ name: tool.name, bytes: Buffer.byteLength(JSON.stringify(tool)) }));
  expect(sizes.filter(({ bytes }) => bytes > maxToolBytes)).toEqual([]);
  const total = Buffer.byteLength(JSON.stringify({ tools }));
  expect(total, 'shorten descriptions, or leave a tool out').toBeLessThanOrEqual(maxListBytes);
  const { result } = await askStateless(service.url, token, { method: 'tools/list' });
  const names = Object(result)['tools'].map(({ name }: { name: string }) => name);
  expect(names).toEqual(tools.map(({ name }) => name));
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(maxListBytes);
  // Prose is for inputs: results describe themselves.
  expect(tools.map(({ outputSchema }) => JSON.stringify(outputSchema)).join('')).not.toContain(
    '"description":"',
  );
});

test('a result names the fields of every object, except of those that hold any fields', () => {
  const open = [...publishedTools()].flatMap(([name, { operation }]) => {
    const { properties } = resultSchema(operation.tool?.result?.schema ?? operation.output);
    return Object.entries(properties).flatMap(([field, schema]) =>
      findOpenObjects(schema, `${name}.${field}`),
    );
  });
  expect(open.filter((path) => !path.endsWith('.metadata'))).toEqual([
    'get_task.messages[].data',
    'claim_messages.leases[].event.data',
    'request_upload_url.upload.headers',
    'wait_for_events.events[].data',
  ]);
});

test('the times of results are named as texts, too, and the check of all results finds what is not named', () => {
  const timed = [
    'whoami',
    'update_my_card',
    'send_message',
    'create_thread',
    'update_thread',
    'upload_attachment',
  ];
  for (const name of timed)
    expect(publishedTools().get(name)?.definition.outputSchema?.properties).toHaveProperty('created_at_text');
  const message = {
    id: 'msg_1',
    created_at: 1,
    created_at_text: '',
    sender: { id: 'agt_1', canonical_handle: '' },
  };
  const reading = { thread: { metadata: { own: 1 } }, messages: [message], earlier: false };
  expect(() => checkToolResult('get_thread', reading)).not.toThrow();
  const odd = { ...message, sender: { ...message.sender, nickname: '' } };
  expect(() => checkToolResult('get_thread', { ...reading, messages: [odd] })).toThrow('nickname');
  expect(() => checkToolResult('get_thread', { ...reading, extra: 1 })).toThrow('extra');
});

/** The objects whose fields have no names. */
function findOpenObjects(schema: unknown, at: string): string[] {
  const { type, anyOf, items, properties } = Object(schema);
  if (anyOf) return anyOf.flatMap((option: unknown) => findOpenObjects(option, at));
  if (items) return findOpenObjects(items, `${at}[]`);
  if (type !== 'object') return type === undefined ? [at] : [];
  const fields = Object.entries(Object(properties));
  return fields.length === 0
    ? [at]
    : fields.flatMap(([name, child]) => findOpenObjects(child, `${at}.${name}`));
}

test('tools that meet agents of other owners have openWorldHint', async () => {
  const { handle } = await service.agent();
  const token = await service.token(handle, { audience: 'mcp', scopes: [...scopes] });
  const { client, close } = await connectSdkClient(service.url, token);
  const { tools } = await client.listTools();
  await close();
  const closedWorld = tools.filter(({ annotations }) => annotations?.openWorldHint !== true);
  expect(closedWorld.map(({ name }) => name).toSorted()).toEqual([
    'acknowledge_events',
    'complete_upload',
    'get_inbox',
    'list_contacts',
    'release_message',
    'request_upload_url',
    'set_inbox',
    'unblock_agent',
    'upload_attachment',
    'whoami',
  ]);
});
