import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ElicitRequestSchema,
  type ElicitResult,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type Notification,
} from '@modelcontextprotocol/sdk/types.js';

export const program = resolve(import.meta.dirname, '../../../dist/src/cli/main.js');
if (!existsSync(program)) throw new Error(`${program} is missing: npm test builds it`);

export interface BridgedOptions {
  /** Another way to start it. */
  command?: readonly [string, ...string[]];
  args: readonly string[];
  env: Record<string, string>;
  /** The person behind the client. */
  answer?: () => Promise<ElicitResult>;
}

/** The MCP SDK's client, as a desktop program starts the bridge: a process of its own, MCP over its standard input and output. */
export function bridged({
  command = [process.execPath, program, 'mcp-stdio'],
  args,
  env,
  answer,
}: BridgedOptions) {
  const [executable, ...first] = command;
  const transport = new StdioClientTransport({
    command: executable,
    args: [...first, ...args],
    env,
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk) => (log += String(chunk)));
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: 'desktop', version: '1' }, { capabilities });
  const notifications: Notification[] = [];
  const strange: Error[] = [];
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  client.onerror = (error) => strange.push(error);
  if (answer) client.setRequestHandler(ElicitRequestSchema, answer);

  async function call(name: string, args_: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { structuredContent, content } = await client.callTool({ name, arguments: args_ });
    return Object(structuredContent ?? JSON.parse(Object(content)[0].text));
  }
  return {
    client,
    notifications,
    /** What was no MCP at its standard output. */
    strange,
    call,
    connected: () => client.connect(transport),
    pid: () => transport.pid,
    log: () => log,
    /** Contents of the messages that were told, in the order in which they came. */
    told: () =>
      notifications
        .filter(({ method }) => method === 'notifications/service/message_created')
        .map(({ params }) => params?.['content']),
  };
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  messages: JSONRPCMessage[];
  log: string;
}

/** Starts the bridge with a client that writes what it likes. */
export function rawBridge(args: readonly string[], env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, 'mcp-stdio', ...args], { env: { PATH, HOME, ...env } });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'close');
  return {
    child,
    write: (line: string | object) =>
      void child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    /** Resolves when it has ended. Everything that it wrote is MCP, or this rejects. */
    async ended(): Promise<Ending> {
      const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
      const lines = (await out).split('\n').filter((line) => line !== '');
      const messages = lines.map((line) => JSONRPCMessageSchema.parse(JSON.parse(line)));
      return { code, signal, messages, log: await err };
    },
  };
}

export const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
