import { getAllMcpTools, MCPServerStreamableHttp, RunContext } from '@openai/agents';
import { expect } from 'vitest';
import { readText } from '../eliciting-client.ts';
import type { Access, ToolDriver } from './driver.ts';

/**
 * The MCP tools of the OpenAI Agents SDK with strict schemas. In strict mode a model writes every field of a schema, and null for
 * what it leaves out. The model sees only the text of a result, also of an error.
 */
export async function connectOpenAiAgents({ url, token }: Access): Promise<ToolDriver> {
  const headers = { Authorization: `Bearer ${token}` };
  const server = new MCPServerStreamableHttp({
    name: 'ams',
    url: `${url}/mcp`,
    requestInit: { headers },
  });
  await server.connect();
  const listed = await getAllMcpTools({
    mcpServers: [server],
    convertSchemasToStrict: true,
    errorFunction: null,
  });
  const tools = new Map(
    listed.map((tool) =>
      tool.type === 'function' ? [tool.name, tool] : expect.fail(`${tool.name} is no function`),
    ),
  );
  return {
    tools: async () => [...tools.keys()],
    async call(name, args = {}) {
      const tool = tools.get(name) ?? expect.fail(`there is no tool ${name}`);
      expect(tool.strict, `${name} has a strict schema`).toBe(true);
      const fields = Object.keys(Object(tool.parameters).properties);
      const nulls = Object.fromEntries(fields.map((field) => [field, null]));
      const shown: unknown = await tool.invoke(new RunContext(), JSON.stringify({ ...nulls, ...args }));
      const { text } = Object(shown);
      return readText('error' in JSON.parse(text), text);
    },
    close: () => server.close(),
  };
}
