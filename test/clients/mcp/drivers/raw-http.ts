import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { readResult } from '../eliciting-client.ts';
import type { Access, Driver } from './driver.ts';

/**
 * A client of the first revision, written by hand: no Accept header, no session, no word that it is ready; it understands one
 * JSON body and the JSON text of the first content.
 */
export async function connectRawHttp({ url, token }: Access): Promise<Driver> {
  let id = 0;
  async function rpc(method: string, params: object): Promise<Record<string, unknown>> {
    id += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const { status, type, answer } = await post(`${url}/mcp`, token, body);
    expect({ status, type }, answer).toEqual({ status: 200, type: 'application/json' });
    const { result, ...rest } = JSON.parse(answer);
    expect(rest).toEqual({ jsonrpc: '2.0', id });
    return result;
  }
  const clientInfo = { name: 'by hand', version: '1' };
  const hello = await rpc('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo });
  expect(hello).toMatchObject({ protocolVersion: '2024-11-05' });
  return {
    async tools() {
      const { tools } = await rpc('tools/list', {});
      return Object(tools).map(({ name }: { name: string }) => name);
    },
    call: async (name, args = {}) => readResult(await rpc('tools/call', { name, arguments: args })),
    async read(uri) {
      const { contents } = await rpc('resources/read', { uri });
      return JSON.parse(Object(contents)[0].text);
    },
    close: async () => undefined,
  };
}

/** What `fetch` would add, this leaves out. */
function post(url: string, token: string, body: string) {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise<{ status: number | undefined; type: string; answer: string }>((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent: false }, (got) => {
      const [type = ''] = got.headers['content-type']?.split(';') ?? [];
      text(got).then((answer) => resolve({ status: got.statusCode, type, answer }), reject);
    });
    asking.on('error', reject).end(body);
  });
}
