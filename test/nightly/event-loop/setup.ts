import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { requestRest } from '../../clients/rest.ts';
import { startServiceCluster } from '../../support/cluster/cluster.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { buildProbeEnv, maxHoldMs, measureHold } from './loop-hold.ts';

/** One API process, an agent with a thread, and calls of that agent whose hold of the event loop is measured. */
export async function startMeasuredApi() {
  const folder = await mkdtemp(join(tmpdir(), 'ams-loop-'));
  const cluster = await startServiceCluster('postgres', { DATA_DIR: folder, LOG_LEVEL: 'warn' });
  const socket = join(folder, 'probe');
  const { url } = await cluster.startApi({ LOG_LEVEL: 'info', ...buildProbeEnv(socket) });
  const ann = await buildAgent(cluster.core, { scopes });
  const mcpToken = await issueTokenFor(cluster.core, ann.handle, { audience: 'mcp', scopes });
  const bob = await buildAgent(cluster.core);
  const opening = { with_handle: bob.handle, initial_message: 'Hello' };
  const thread = await requestRest('POST', `${url}/v1/threads`, { token: ann.token, body: opening });
  const [owner, agent_name] = ann.handle.split('.');
  const slow: string[] = [];

  return {
    cluster,
    url,
    ann,
    mcpToken,
    /** Values of the fields that name records, so that calls come as far as they can. */
    valid: {
      thread_id: String(thread.body.id),
      handle: bob.handle,
      agent_ref: bob.handle,
      with_handle: bob.handle,
      owner,
      agent_name,
    } as Record<string, unknown>,
    /** Measures a call; `expectNoneSlow` reports the slow ones together. */
    async check(what: string, call: (attempt: number) => Promise<unknown>): Promise<void> {
      const hold = await measureHold(socket, call);
      if (hold > maxHoldMs) slow.push(`${what}: ${Math.round(hold)} ms`);
    },
    expectNoneSlow: () => expect(slow.splice(0)).toEqual([]),
    /** Sends bytes as they are, with header fields that fetch would refuse. Returns the status. */
    send(
      method: string,
      path: string,
      headers: readonly [string, string][] = [],
      body?: Buffer,
    ): Promise<number> {
      return new Promise((resolve, reject) => {
        const call = request(`${url}${path}`, { method });
        call.setHeader('Authorization', `Bearer ${path === '/mcp' ? mcpToken : ann.token}`);
        for (const [name, value] of headers) call.setHeader(name, value);
        call.on('error', reject);
        call.on('response', (response) => {
          text(response).then(() => resolve(response.statusCode ?? 0), reject);
        });
        call.end(body);
      });
    },
    async stop() {
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The body of a tool call; `args` is JSON. */
export function toolCall(name: string, args: string): Buffer {
  const head = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":`;
  return Buffer.from(`${head}${args}}}`);
}

export const jsonType: [string, string] = ['Content-Type', 'application/json'];
