import { randomUUID } from 'node:crypto';
import { readProcessCpuTime } from '../load/cpu-time.ts';
import { type HttpPool, openHttpPool } from '../load/http-client.ts';
import { compareRates, measureInTurn, type Meter } from '../load/in-turn.ts';
import { runLoad } from '../load/run-load.ts';
import { waitForQueues } from '../load/senders.ts';
import { buildNumberedContent } from '../load/tally.ts';
import { type BareProgram, startBareServer } from '../start/bare-server.ts';
import { createPairs, issueTokenFor } from '../../scripts/parts/population.ts';
import { type Bench, startService } from '../start/service.ts';

const revision = '2026-07-28';
const clientInfo = { name: 'bench', version: '1' };
const accept = 'Accept: application/json, text/event-stream';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const initializeParams = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };

interface Caller {
  token: string;
  /** Absent in revision 2026-07-28, which has no sessions. */
  session?: string;
}

/** The tool server compared with bare servers and with REST; see docs/performance.md for the meaning of each figure. */
export async function measureTools(bench: Bench) {
  const { seconds, threads: count, in_flight } = bench.options.sending;
  const service = await startService(bench);
  const api = { base: service.base, pid: service.pid };
  const start = (program: BareProgram) => startBareServer(bench, program);
  const [bare, stateless] = [await start('tools/bare-server'), await start('tools/bare-stateless-server')];
  const threads = await createPairs(service.core, 'tools', count);
  const senders: { thread_id: string; rest: string; caller: Required<Caller> }[] = [];
  for (const { id, members } of threads) {
    const token = await issueTokenFor(service.core, members[0]?.handle ?? '', 'mcp');
    const session = await openSession(service.base, token);
    senders.push({ thread_id: id, rest: members[0]?.token ?? '', caller: { token, session } });
  }
  const bareCaller = { token: 'none', session: await openSession(bare.base, 'none') };
  const pick = (number: number) => {
    const sender = senders[number % senders.length];
    if (!sender) throw new Error('there are no threads');
    return sender;
  };
  const open = (
    name: string,
    server: typeof api,
    call: (pool: HttpPool, number: number) => Promise<unknown>,
  ): Meter => {
    const pool = openHttpPool(server.base);
    bench.onEnd(pool.close);
    const { signal } = bench;
    return {
      name,
      async run(duration) {
        const load = { lanes: in_flight, seconds: duration, signal };
        const result = await runLoad(load, (number) => call(pool, number));
        await waitForQueues(service, signal);
        return result;
      },
      readCpu() {
        const ms = readProcessCpuTime(server.pid);
        return ms === null ? null : { api: ms, worker: 0, postgres: 0, generator: 0 };
      },
    };
  };
  const list = (pool: HttpPool, caller: Caller, id: number) =>
    callTool(pool, caller, { id, name: 'list_threads', args: {} });
  const loads = await measureInTurn(
    [
      open('list_threads', api, (pool, id) => list(pool, pick(id).caller, id)),
      open('the same on a bare server', bare, (pool, id) => list(pool, bareCaller, id)),
      open(`list_threads, ${revision}`, api, (pool, id) => list(pool, { token: pick(id).caller.token }, id)),
      open('the same on a bare server of the second SDK', stateless, (pool, id) =>
        list(pool, { token: 'none' }, id),
      ),
      open('send_message', api, (pool, id) => {
        const { thread_id, caller } = pick(id);
        const args = { thread_id, content: buildNumberedContent(id), idempotency_key: randomUUID() };
        return callTool(pool, caller, { id, name: 'send_message', args });
      }),
      open('POST …/messages', api, (pool, id) => {
        const { thread_id, rest } = pick(id);
        return pool.sendMessage(thread_id, rest, buildNumberedContent(id));
      }),
    ],
    { seconds, rounds: 3, log: bench.log },
  );
  return {
    loads,
    list_ratio: compareRates(loads[0], loads[1]),
    list_ratio_stateless: compareRates(loads[2], loads[3]),
    send_ratio: compareRates(loads[4], loads[5]),
    in_flight,
    threads: count,
  };
}

/** Opens a session; returns its id. */
async function openSession(base: string, token: string): Promise<string> {
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
  return session;
}

/** Calls a tool, in a session or in revision 2026-07-28. @throws when the call fails. */
async function callTool(
  pool: HttpPool,
  { token, session }: Caller,
  { id, name, args }: { id: number; name: string; args: object },
): Promise<void> {
  const versioned =
    session === undefined
      ? [`Mcp-Protocol-Version: ${revision}`, 'Mcp-Method: tools/call', `Mcp-Name: ${name}`]
      : [`Mcp-Session-Id: ${session}`, `Mcp-Protocol-Version: ${initializeParams.protocolVersion}`];
  const params = { name, arguments: args, ...(session === undefined && { _meta: meta }) };
  const body = { jsonrpc: '2.0', id, method: 'tools/call', params };
  const answer = await pool.request({ path: '/mcp', token, headers: [...versioned, accept], body });
  if (!answer.includes('"structuredContent"')) throw new Error(`${name} answered ${answer.slice(0, 300)}`);
}
