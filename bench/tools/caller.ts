import type { KeepAliveConnection } from '../http-client.ts';

export interface Caller {
  base: string;
  token: string;
  session: string;
}

const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** Opens a session. */
export async function openSession(base: string, token: string): Promise<Caller> {
  const answer = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams }),
  });
  const text = await answer.text();
  const session = answer.headers.get('mcp-session-id');
  if (!answer.ok || session === null) throw new Error(`initialize answered ${answer.status}: ${text}`);
  return { base, token, session };
}

interface ToolCall {
  name: string;
  args: object;
  id: number;
}

/** Calls a tool in a session over a keep-alive connection. @throws {Error} when the call fails. */
export function callTool(
  connection: KeepAliveConnection,
  { session, ...caller }: Caller,
  { name, args, id }: ToolCall,
): Promise<void> {
  const headers = [`Mcp-Session-Id: ${session}`, 'Mcp-Protocol-Version: 2025-11-25'];
  return send(connection, caller, { name, id, headers, params: { name, arguments: args } });
}

const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': initializeParams.clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Calls a tool in revision 2026-07-28, without a session. @throws {Error} when the call fails. */
export function callToolStateless(
  connection: KeepAliveConnection,
  caller: Pick<Caller, 'base' | 'token'>,
  { name, args, id }: ToolCall,
): Promise<void> {
  const headers = [`Mcp-Protocol-Version: ${revision}`, 'Mcp-Method: tools/call', `Mcp-Name: ${name}`];
  return send(connection, caller, { name, id, headers, params: { name, arguments: args, _meta: meta } });
}

async function send(
  connection: KeepAliveConnection,
  { base, token }: Pick<Caller, 'base' | 'token'>,
  { name, id, headers, params }: { name: string; id: number; headers: string[]; params: object },
): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const request = [
    'POST /mcp HTTP/1.1',
    `Host: ${new URL(base).host}`,
    `Authorization: Bearer ${token}`,
    ...headers,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ];
  const { status, body: answer } = await connection.send(request.join('\r\n'));
  if (status !== 200 || !answer.includes('"structuredContent"')) {
    throw new Error(`${name} answered ${status}: ${answer.slice(0, 300)}`);
  }
}
