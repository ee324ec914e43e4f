import { json } from 'node:stream/consumers';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callTool, serve, toolName } from './serve.ts';

/** A minimal MCP server of revision 2026-07-28 to compare the service with, with the tool of the other bare server. */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1' });
  const inputSchema = z.object({ limit: z.int().optional() });
  server.registerTool(toolName, { description: 'Nothing.', inputSchema }, callTool);
  return server;
});

serve(async (request, response) => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const parsedBody = await json(request);
  const answer = await handler.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers }), {
    parsedBody,
  });
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length });
  response.end(body);
});
