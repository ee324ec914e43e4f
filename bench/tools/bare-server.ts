import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/**
 * A minimal MCP server to compare the service with: one tool that always returns the same small object, sessions in memory, no
 * authentication. It runs in its own process and sends its port to the parent.
 */
const sessions = new Map<string, StreamableHTTPServerTransport>();

async function open(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'bare', version: '1' });
  const text = JSON.stringify({ threads: [] });
  server.registerTool(
    'list_threads',
    { description: 'Nothing.', inputSchema: { limit: z.int().optional() } },
    () => ({ content: [{ type: 'text', text }], structuredContent: { threads: [] } }),
  );
  await server.connect(transport);
  return transport;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const transport = sessions.get(String(id)) ?? (await open());
  await transport.handleRequest(request, response);
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) =>
    response.destroy(error instanceof Error ? error : undefined),
  );
});
server.listen({ port: 0, host: '127.0.0.1' }, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port });
});
process.once('SIGTERM', () => process.exit(0));
// The IPC channel closes when the parent exits for any reason.
process.once('disconnect', () => process.exit(0));
