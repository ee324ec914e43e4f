// Calls tools through @ai-sdk/mcp: one JSON line per call on standard input, one per result on standard output.
import { createInterface } from 'node:readline';
import { createMCPClient } from '@ai-sdk/mcp';

const { AMS_URL, AMS_TOKEN } = process.env;
const headers = { Authorization: `Bearer ${AMS_TOKEN}` };
const client = await createMCPClient({ transport: { type: 'http', url: `${AMS_URL}/mcp`, headers } });
const tools = await client.tools();
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

write({ tools: Object.keys(tools) });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, args } = JSON.parse(line);
  try {
    write({ id, result: await tools[name].execute(args, { toolCallId: String(id), messages: [] }) });
  } catch (error) {
    write({ id, error: String(error.message) });
  }
}
await client.close();
