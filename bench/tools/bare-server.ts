import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { callTool, serve, toolName } from './serve.ts';

/**
 * A minimal MCP server to compare the service with: one tool that always returns the same small object, sessions in memory, no
 * authentication.
 */
const sessions = new Map<string, StreamableHTTPServerTransport>();

async function open(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'bare', version: '1' });
  server.registerTool(
    toolName,
    { description: 'Nothing.', inputSchema: { limit: z.int().optional() } },
    callTool,
  );
  await server.connect(transport);
  return transport;
}

serve(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = sessions.get(String(id)) ?? (await open());
  await transport.handleRequest(request, response);
});
