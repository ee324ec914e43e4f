import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { readResult } from '../eliciting-client.ts';
import { type Access, acceptedElicitation, type Driver } from './driver.ts';

/** The client of the MCP SDK. */
export function connectSdk(access: Access): Promise<Driver> {
  const headers = { Authorization: `Bearer ${access.token}` };
  return connectOver(
    new StreamableHTTPClientTransport(new URL(`${access.url}/mcp`), { requestInit: { headers } }),
    access,
  );
}

/** The same client over any transport. */
export async function connectOver(
  transport: Pick<Transport, keyof Transport>,
  { onElicitation }: Pick<Access, 'onElicitation'>,
): Promise<Driver> {
  const client = new Client({ name: 'Story', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  const methods: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    onElicitation(params.message);
    return acceptedElicitation;
  });
  client.fallbackNotificationHandler = async ({ method }) => void methods.push(method);
  await client.connect(transport);
  const { tools } = await client.listTools(); // from here on it validates
  return {
    tools: async () => tools.map(({ name }) => name),
    call: async (name, args = {}) => readResult(await client.callTool({ name, arguments: args })),
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      return JSON.parse(Object(contents[0]).text);
    },
    notified: () => methods,
    close: () => client.close(),
  };
}
