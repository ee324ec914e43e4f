import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Access, Driver } from './driver.ts';
import { connectOver } from './sdk.ts';

const program = resolve(import.meta.dirname, '../../../../node_modules/mcp-remote/dist/proxy.js');

/** `mcp-remote` in front of a client that speaks only stdio, with a token in its settings. */
export async function connectMcpRemote(access: Access): Promise<Driver> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-mcp-remote-'));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, `${access.url}/mcp`, '--header', 'Authorization:${AUTHORIZATION}'],
    env: {
      HOME: folder,
      MCP_REMOTE_CONFIG_DIR: folder,
      AUTHORIZATION: `Bearer ${access.token}`,
    },
    stderr: 'ignore',
  });
  const driver = await connectOver(transport, access);
  return {
    ...driver,
    async close() {
      await driver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
