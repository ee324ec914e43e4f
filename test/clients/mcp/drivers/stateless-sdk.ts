import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { readResult } from '../eliciting-client.ts';
import { type Access, acceptedElicitation, type Driver } from './driver.ts';

const revision = '2026-07-28';

/** A client of the second MCP SDK, connected. Rejects if it does not speak revision 2026-07-28 then. */
async function connectStatelessClient(
  { url, token, onElicitation }: Access,
  mode: VersionNegotiationMode = { pin: revision },
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  const client = new Client(
    { name: 'Story', version: '2' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    onElicitation(params.message);
    return acceptedElicitation;
  });
  await client.connect(transport);
  const version = client.getNegotiatedProtocolVersion();
  if (version !== revision) throw new Error(`the client speaks ${version}`);
  return client;
}

async function connect(access: Access, mode: VersionNegotiationMode): Promise<Driver> {
  const client = await connectStatelessClient(access, mode);
  const { tools } = await client.listTools(); // from here on it validates
  return {
    tools: async () => tools.map(({ name }) => name),
    call: async (name, args = {}) => readResult(await client.callTool({ name, arguments: args })),
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      return JSON.parse(Object(contents[0]).text);
    },
    close: () => client.close(),
  };
}

/** The second SDK, told to use revision 2026-07-28. */
export const connectPinnedSdk = (access: Access) => connect(access, { pin: revision });

/** The second SDK, which finds out what the service speaks. */
export const connectNegotiatingSdk = (access: Access) => connect(access, 'auto');
