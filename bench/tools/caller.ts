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

/** Calls a tool over a keep-alive connection. @throws {Error} when the call fails. */
export async function callTool(
  connection: KeepAliveConnection,
  { base, token, session }: Caller,
  { name, args, id }: { name: string; args: object; id: number },
): Promise<void> {
  const params = { name, arguments: args };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const request = [
    'POST /mcp HTTP/1.1',
    `Host: ${new URL(base).host}`,
    `Authorization: Bearer ${token}`,
    `Mcp-Session-Id: ${session}`,
    'Mcp-Protocol-Version: 2025-11-25',
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
