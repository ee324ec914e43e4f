// Calls tools through the command line of the inspector: one JSON line per call on standard input, one per result on standard output.
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const { AMS_URL, AMS_TOKEN } = process.env;
const command = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const server = [
  '--cli',
  `${AMS_URL}/mcp`,
  '--transport',
  'http',
  '--header',
  `Authorization: Bearer ${AMS_TOKEN}`,
];
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function ask(method, ...rest) {
  const args = [command, ...server, '--method', method, ...rest];
  const ended = promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  // It prints the result of a tool that failed too, and ends with a code of its own.
  const { stdout } = await ended.catch((error) => (error.stdout ? error : Promise.reject(error)));
  return JSON.parse(stdout);
}

write({ tools: (await ask('tools/list')).tools.map(({ name }) => name) });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, args } = JSON.parse(line);
  const fields = Object.entries(args).flatMap(([key, value]) => [
    '--tool-arg',
    `${key}=${JSON.stringify(value)}`,
  ]);
  try {
    write({ id, result: await ask('tools/call', '--tool-name', name, ...fields) });
  } catch (error) {
    write({ id, error: String(error.stderr || error.message) });
  }
}
