import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { expect } from 'vitest';
import { readText } from '../eliciting-client.ts';
import type { Access, ToolDriver } from './driver.ts';

/** What the library writes before the text of a tool error. */
const errorPrefix = /^MCP tool '\w+' on server 'ams' returned an error: /;

/** The MCP tools of LangChain. The library checks the arguments against the published schema and throws tool errors. */
export async function connectLangChain({ url, token }: Access): Promise<ToolDriver> {
  const headers = { Authorization: `Bearer ${token}` };
  const client = new MultiServerMCPClient({ ams: { transport: 'http', url: `${url}/mcp`, headers } });
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
  return {
    tools: async () => [...tools.keys()],
    async call(name, args = {}) {
      const tool = tools.get(name) ?? expect.fail(`there is no tool ${name}`);
      try {
        const shown: unknown = await tool.invoke(args);
        return readText(false, typeof shown === 'string' ? shown : String(Object(shown).text));
      } catch (error) {
        const { message } = Object(error);
        if (!errorPrefix.test(message)) throw error;
        return readText(true, String(message).replace(errorPrefix, ''));
      }
    },
    close: () => client.close(),
  };
}
