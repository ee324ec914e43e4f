import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What the one tool of a bare server returns. */
export const toolName = 'list_threads';
const text = JSON.stringify({ threads: [] });
export const callTool = () => ({
  content: [{ type: 'text' as const, text }],
  structuredContent: { threads: [] },
});

/** Serves requests in a process of the benchmark, and sends its port to the parent. */
export function serve(handle: Handler): void {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) =>
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
}
