// Calls tools through mcp-use: one JSON line per call on standard input, one per result on standard output.
import { createInterface } from 'node:readline';
import { MCPClient } from 'mcp-use/client';

const { AMS_URL, AMS_TOKEN } = process.env;
const headers = { Authorization: `Bearer ${AMS_TOKEN}` };
const client = new MCPClient({ mcpServers: { ams: { url: `${AMS_URL}/mcp`, headers } } });
const session = await client.createSession('ams');
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

write({ tools: (await session.listTools()).map(({ name }) => name) });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, args } = JSON.parse(line);
  try {
    write({ id, result: await session.callTool(name, args) });
  } catch (error) {
    write({ id, error: String(error.message) });
  }
}
await client.closeAllSessions();
