// Calls tools through @mastra/mcp: one JSON line per call on standard input, one per result on standard output.
import { createInterface } from 'node:readline';
import { MCPClient } from '@mastra/mcp';

const { AMS_URL, AMS_TOKEN } = process.env;
const requestInit = { headers: { Authorization: `Bearer ${AMS_TOKEN}` } };
const client = new MCPClient({
  servers: { ams: { url: new URL(`${AMS_URL}/mcp`), requestInit } },
  timeout: 60_000,
});
// Names have the prefix of the server.
const tools = await client.listTools();
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

write({ tools: Object.keys(tools).map((name) => name.replace(/^ams_/, '')) });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, args } = JSON.parse(line);
  try {
    write({ id, result: await tools[`ams_${name}`].execute(args, {}) });
  } catch (error) {
    write({ id, error: String(error.message) });
  }
}
await client.disconnect();
