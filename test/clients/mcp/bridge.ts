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

export interface BridgeOptions {
  /** Another way to start it. */
  command?: readonly [string, ...string[]];
  args: readonly string[];
  env: Record<string, string>;
  /** The person behind the client. */
  onElicitation?: () => Promise<ElicitResult>;
}

/** The MCP SDK's client, as a desktop program starts the bridge: a process of its own, MCP over its standard input and output. */
export function startBridge({
  command = [process.execPath, program, 'mcp-stdio'],
  args,
  env,
  onElicitation,
}: BridgeOptions) {
  const [executable, ...first] = command;
  const transport = new StdioClientTransport({
    command: executable,
    args: [...first, ...args],
    env,
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk) => (log += String(chunk)));
  const capabilities = onElicitation ? { elicitation: {} } : {};
  const client = new Client({ name: 'desktop', version: '1' }, { capabilities });
  const notifications: Notification[] = [];
  const invalidOutput: Error[] = [];
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  client.onerror = (error) => invalidOutput.push(error);
  if (onElicitation) client.setRequestHandler(ElicitRequestSchema, onElicitation);

  async function call(name: string, args_: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { structuredContent, content } = await client.callTool({ name, arguments: args_ });
    return Object(structuredContent ?? JSON.parse(Object(content)[0].text));
  }
  return {
    client,
    notifications,
    /** Standard output that was not MCP. */
    strange: invalidOutput,
    call,
    connect: () => client.connect(transport),
    pid: () => transport.pid,
    log: () => log,
    /** Contents of the messages that were told, in the order in which they came. */
    messageContents: () =>
      notifications
        .filter(({ method }) => method === 'notifications/service/message_created')
        .map(({ params }) => params?.['content']),
  };
}

export interface BridgeExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  messages: JSONRPCMessage[];
  log: string;
}

/** Starts the bridge with a client that writes what it likes. */
export function startRawBridge(args: readonly string[], env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, 'mcp-stdio', ...args], { env: { PATH, HOME, ...env } });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'close');
  return {
    child,
    write: (line: string | object) =>
      void child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    /** Resolves when it has ended. Everything that it wrote is MCP, or this rejects. */
    async ended(): Promise<BridgeExit> {
      const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
      const lines = (await out).split('\n').filter((line) => line !== '');
      const messages = lines.map((line) => JSONRPCMessageSchema.parse(JSON.parse(line)));
      return { code, signal, messages, log: await err };
    },
  };
}

export const initializeRequest = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
