import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { captureOpenedUrls } from './opened-urls.ts';

const program = resolve(import.meta.dirname, '../../../node_modules/mcp-remote/dist/proxy.js');

/** `mcp-remote` as a desktop client starts it: JSON-RPC over its standard input and output, a folder of its own for what it keeps. */
export async function startMcpRemote(url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ams-mcp-remote-'));
  const browser = await captureOpenedUrls();
  const log: string[] = [];
  const clients: Client[] = [];

  function connect(): { client: Client; connected: Promise<void> } {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, `${url}/mcp`, '--auth-timeout', '50'],
      env: { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, ...browser.env },
      stderr: 'pipe',
    });
    transport.stderr?.on('data', (chunk) => void log.push(String(chunk)));
    const client = new Client({ name: 'desktop', version: '1' });
    clients.push(client);
    return { client, connected: client.connect(transport) };
  }

  return {
    connect,
    /** The next address that it opens in the person's browser. */
    opened: () => browser.next(),
    log: () => log.join(''),
    async close() {
      for (const client of clients) await client.close();
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
