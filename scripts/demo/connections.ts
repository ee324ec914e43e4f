import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Client, ConnectionState, CursorStore, ClientEvent } from '../../packages/client/src/main.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';

export interface LiveEvents {
  events: Arrivals<ClientEvent>;
  /** Ends the connection. The position of the last event is stored then. */
  close(): Promise<void>;
}

/** Receives the events of an agent, from the stored position or from now on. Resolves when the connection is open. */
export async function openEvents(
  client: Client,
  transport: 'websocket' | 'poll',
  cursor: CursorStore,
): Promise<LiveEvents> {
  const events = createArrivals<ClientEvent>();
  const states = createArrivals<ConnectionState>();
  const stop = new AbortController();
  const { signal } = stop;

  async function read(): Promise<void> {
    for await (const event of client.events({
      transport,
      start: 'latest',
      cursor,
      signal,
      onState: states.add,
    }))
      events.add(event);
  }

  const reading = read();
  reading.catch(() => undefined); // reported by close; until then, the wait for the next event fails
  await states.first('the connection', ({ status }) => status === 'open');
  return {
    events,
    async close() {
      stop.abort();
      await reading;
    },
  };
}

/** A notification of the service on the SSE stream of an MCP client. */
export interface ToolNotification {
  method: string;
  params?: Record<string, unknown> | undefined;
}

/** Connects the client of the MCP SDK, and waits for its notification stream. */
export async function connectTools(base: string, token: string) {
  const streams = createArrivals<number>();
  const notifications = createArrivals<ToolNotification>();
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init?.method === 'GET') streams.add(response.status);
      return response;
    },
  });
  const client = new McpClient({ name: 'demo', version: '1' });
  client.fallbackNotificationHandler = async (notification) => notifications.add(notification);
  await client.connect(transport);
  // The SDK opens the stream without reporting it; earlier notifications would be missed.
  await streams.first('the stream of notifications', (status) => status === 200);
  const { tools } = await client.listTools();
  return {
    tools: tools.map(({ name }) => name),
    notifications,
    async call<Output>(name: string, args: Record<string, unknown>): Promise<Output> {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(`the tool ${name} failed: ${JSON.stringify(content)}`);
      return structuredContent as Output;
    },
    close: () => client.close(),
  };
}

export type ToolClient = Awaited<ReturnType<typeof connectTools>>;
