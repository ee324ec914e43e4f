import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * A minimal MCP server of revision 2026-07-28 to compare the service with: one tool that always returns the same small object, no
 * authentication. It runs in its own process and sends its port to the parent.
 */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1' });
  const text = JSON.stringify({ threads: [] });
  server.registerTool(
    'list_threads',
    { description: 'Nothing.', inputSchema: z.object({ limit: z.int().optional() }) },
    () => ({ content: [{ type: 'text', text }], structuredContent: { threads: [] } }),
  );
  return server;
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const parsedBody = await json(request);
  const answer = await handler.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers }), {
    parsedBody,
  });
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length });
  response.end(body);
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
