// Subscribes to a resource through @mastra/mcp: prints a line when subscribed, and one for each update.
import { MCPClient } from '@mastra/mcp';

const { AMS_URL, AMS_TOKEN, AMS_RESOURCE } = process.env;
const requestInit = { headers: { Authorization: `Bearer ${AMS_TOKEN}` } };
const client = new MCPClient({ servers: { ams: { url: new URL(`${AMS_URL}/mcp`), requestInit } } });
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

await client.resources.onUpdated('ams', ({ uri }) => write({ updated: uri }));
await client.resources.subscribe('ams', AMS_RESOURCE);
write({ subscribed: AMS_RESOURCE });
process.stdin.once('end', () => void client.disconnect()).resume();
