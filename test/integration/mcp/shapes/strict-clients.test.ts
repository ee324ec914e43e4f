import { type FunctionTool, getAllMcpTools, MCPServerStreamableHttp, RunContext } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let agent: TestAgent;
let token: string;
let server: MCPServerStreamableHttp;
let tools: Map<string, FunctionTool>;

beforeAll(async () => {
  agent = await service.agent();
  token = await service.token(agent.handle, { audience: 'mcp', scopes: [...scopes] });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  server = new MCPServerStreamableHttp({ name: 'ams', url: `${service.url}/mcp`, requestInit });
  await server.connect();
  const listed = await getAllMcpTools({
    mcpServers: [server],
    convertSchemasToStrict: true,
    errorFunction: null,
  });
  tools = new Map(listed.flatMap((tool) => (tool.type === 'function' ? [[tool.name, tool]] : [])));
});
afterAll(async () => {
  await server.close();
});

/** What a strict mode refuses in a schema: an object that is open or has optional fields, and a value without a type. */
function findFaults(schema: unknown, at: string): string[] {
  const { type, anyOf, items, properties, required, additionalProperties } = Object(schema);
  if (Array.isArray(anyOf)) return anyOf.flatMap((option) => findFaults(option, at));
  if (type === undefined) return [`${at} has no type`];
  if (type === 'array') return findFaults(items, `${at}[]`);
  if (type !== 'object') return [];
  const names = Object.keys(Object(properties));
  const isClosed = additionalProperties === false && names.every((name) => required?.includes(name));
  const faults = names.flatMap((name) => findFaults(Object(properties)[name], `${at}.${name}`));
  return isClosed ? faults : [`${at} is open`, ...faults];
}

test('a strict client converts every tool', () => {
  expect(tools.size).toBe(35);
  const converted = [...tools.values()];
  expect(converted.filter(({ strict }) => !strict).map(({ name }) => name)).toEqual([]);
  expect(converted.flatMap(({ name, parameters }) => findFaults(parameters, name))).toEqual([]);
});

test('a strict client sets the known fields of metadata, and null stands for a field that it leaves out', async () => {
  const other = await service.agent();
  const { value } = await callToolRaw(service.url, token, 'create_thread', { with_handle: other.handle });
  const send = async (metadata: object) => {
    const args = { thread_id: value['id'], content: 'Thanks.', metadata };
    await tools.get('send_message')?.invoke(new RunContext(), JSON.stringify(args));
    await callToolRaw(service.url, token, 'send_message', args);
  };
  await send({ no_reply_expected: true, asks_person: null });
  await send({ no_reply_expected: null, asks_person: null });
  await send({ own: null, list: [null] });
  const { messages } = Object(
    (await callToolRaw(service.url, token, 'get_thread', { thread_id: value['id'] })).value,
  );
  expect(messages.map(({ metadata }: { metadata: object }) => metadata).slice(0, 4)).toEqual([
    { no_reply_expected: true },
    { no_reply_expected: true },
    {},
    {},
  ]);
  expect(messages.at(-1).metadata).toEqual({ own: null, list: [null] });
});
