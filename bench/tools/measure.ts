import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { readProcessCpuTime } from '../cpu-time.ts';
import { type KeepAliveConnection, openKeepAliveConnection, buildMessageRequest } from '../http-client.ts';
import { keepInFlight, perSecond, type Rate, sumRates } from '../in-flight.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { createThreads, type Thread, issueTokenFor } from '../population.ts';
import { buildNumberedContent } from '../messages/receivers.ts';
import type { Environment } from '../environment.ts';
import { startBareServer } from '../streams/bare-process.ts';
import { type Caller, callTool, callToolStateless, openSession } from './caller.ts';

export interface ToolsOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

interface Measured {
  per_s: number;
  ms: Percentiles;
  /** CPU milliseconds of the server process per call; null where the system does not report it. */
  cpu_ms: number | null;
}

export interface ToolsMeasurement {
  list_threads: Measured;
  bare: Measured;
  /** Rate of `list_threads` divided by that of the bare server. */
  list_ratio: number;
  /** The same in revision 2026-07-28. */
  list_threads_stateless: Measured;
  bare_stateless: Measured;
  list_ratio_stateless: number;
  send_by_tool: Measured;
  send_by_rest: Measured;
  send_ratio: number;
  in_flight: number;
  threads: number;
}

const rounds = 3;
const warmUpSeconds = 2;
const program = fileURLToPath(new URL('./bare-server.js', import.meta.url));
const statelessProgram = fileURLToPath(new URL('./bare-stateless-server.js', import.meta.url));

type Call = (connection: KeepAliveConnection, number: number) => Promise<void>;

/** Compares the tool server with a bare server and with REST; see docs/performance.md for the meaning of each figure. */
export async function measureTools(
  environment: Environment,
  options: ToolsOptions,
): Promise<ToolsMeasurement> {
  const { log, signal, fail, in_flight } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const bare = await startBareServer({ program, signal, fail });
  const bareStateless = await startBareServer({ program: statelessProgram, signal, fail });
  try {
    const threads = await createThreads(core, 'tools', options.threads);
    const callers = await openSessions(core, environment.base, threads);
    const calls = createCalls({
      environment,
      threads,
      callers,
      bareCaller: await openSession(bare.base, 'none'),
    });
    const api = { base: environment.base, pid: environment.pids.api };
    const rows = {
      list_threads: createMeter('list_threads', api, calls.list),
      bare: createMeter('the bare server', bare, calls.trivial),
      list_threads_stateless: createMeter('list_threads, 2026-07-28', api, calls.listStateless),
      bare_stateless: createMeter('the bare server, 2026-07-28', bareStateless, (connection, id) =>
        callToolStateless(connection, { base: bareStateless.base, token: 'none' }, { ...listThreads, id }),
      ),
      send_by_tool: createMeter('send_message', api, calls.sendByTool),
      send_by_rest: createMeter('POST …/messages', api, calls.sendByRest),
    };
    const meters = Object.values(rows);
    log('warming up');
    for (const row of meters) await row.run(in_flight, warmUpSeconds, signal);
    for (const row of meters) row.reset();
    for (let round = 1; round <= rounds; round += 1) {
      for (const row of meters) await row.run(in_flight, options.seconds / rounds, signal);
      log(`round ${round}: ${meters.map((row) => `${row.name} ${row.result().per_s}/s`).join(', ')}`);
    }
    const list_threads = rows.list_threads.result();
    const bareMeasured = rows.bare.result();
    const list_threads_stateless = rows.list_threads_stateless.result();
    const bare_stateless = rows.bare_stateless.result();
    const [send_by_tool, send_by_rest] = [rows.send_by_tool.result(), rows.send_by_rest.result()];
    return {
      list_threads,
      bare: bareMeasured,
      list_ratio: ratio(list_threads, bareMeasured),
      list_threads_stateless,
      bare_stateless,
      list_ratio_stateless: ratio(list_threads_stateless, bare_stateless),
      send_by_tool,
      send_by_rest,
      send_ratio: ratio(send_by_tool, send_by_rest),
      in_flight,
      threads: options.threads,
    };
  } finally {
    await bare.stop();
    await bareStateless.stop();
    await core.close();
  }
}

const listThreads = { name: 'list_threads', args: {} };

/** The calls that are compared. Each uses the threads and their senders in turn. */
function createCalls({
  environment: { base },
  threads,
  callers,
  bareCaller,
}: {
  environment: Pick<Environment, 'base'>;
  threads: readonly Thread[];
  callers: readonly Caller[];
  bareCaller: Caller;
}): Record<'list' | 'trivial' | 'listStateless' | 'sendByTool' | 'sendByRest', Call> {
  const at = <T>(list: readonly T[], number: number): T => {
    const one = list[number % list.length];
    if (one === undefined) throw new Error('there are no threads');
    return one;
  };
  return {
    list: (connection, id) => callTool(connection, at(callers, id), { ...listThreads, id }),
    trivial: (connection, id) => callTool(connection, bareCaller, { ...listThreads, id }),
    listStateless: (connection, id) => callToolStateless(connection, at(callers, id), { ...listThreads, id }),
    sendByTool: (connection, id) => {
      const args = {
        thread_id: at(threads, id).id,
        content: buildNumberedContent(id),
        idempotency_key: randomUUID(),
      };
      return callTool(connection, at(callers, id), { name: 'send_message', args, id });
    },
    async sendByRest(connection, id) {
      const { id: thread_id, members } = at(threads, id);
      const message = {
        thread_id,
        token: members[0].token,
        key: randomUUID(),
        content: buildNumberedContent(id),
      };
      const { status, body } = await connection.send(buildMessageRequest({ base, ...message }));
      if (status !== 201) throw new Error(`POST answered ${status}: ${body.slice(0, 300)}`);
    },
  };
}

/** Opens one session for the first member of each thread. */
async function openSessions(core: Core, base: string, threads: readonly Thread[]): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const { members } of threads) {
    callers.push(await openSession(base, await issueTokenFor(core, members[0].handle, 'mcp')));
  }
  return callers;
}

/** Repeats one kind of call and records durations and CPU time. */
function createMeter(name: string, { base, pid }: { base: string; pid: number }, call: Call) {
  let durations: number[] = [];
  let cpuMs: number | null = 0;
  let rates: Rate[] = [];
  let next = 0;
  return {
    name,
    async run(lanes: number, seconds: number, signal: AbortSignal): Promise<void> {
      const connections = Array.from({ length: lanes }, () => openKeepAliveConnection(base));
      const free = [...connections];
      const before = readProcessCpuTime(pid);
      const rate = await keepInFlight(lanes, seconds, signal, async () => {
        const connection = free.pop();
        if (!connection) throw new Error('more calls than lanes');
        const start = performance.now();
        await call(connection, next++);
        durations.push(performance.now() - start);
        free.push(connection);
      });
      rates.push(rate);
      const after = readProcessCpuTime(pid);
      cpuMs = before === null || after === null || cpuMs === null ? null : cpuMs + after - before;
      for (const connection of connections) connection.close();
    },
    reset() {
      durations = [];
      rates = [];
      cpuMs = 0;
    },
    result: (): Measured => ({
      per_s: Math.round(perSecond(sumRates(rates))),
      ms: percentiles(durations),
      cpu_ms: cpuMs === null ? null : Math.round((cpuMs / durations.length) * 1000) / 1000,
    }),
  };
}

function ratio(one: Measured, other: Measured): number {
  return Math.round((one.per_s / other.per_s) * 1000) / 1000;
}

/** Formats the figures as text. */
export function formatTools(measured: ToolsMeasurement): string {
  const describe = ({ per_s, ms, cpu_ms }: Measured) =>
    `${per_s}/s, p50 ${ms.p50} ms, p95 ${ms.p95} ms, p99 ${ms.p99} ms, CPU ${cpu_ms ?? '?'} ms per call`;
  const rows: [string, string][] = [
    [`tools/call list_threads, ${measured.in_flight} in flight`, describe(measured.list_threads)],
    ['the same on a bare server of the MCP SDK', describe(measured.bare)],
    ['service ÷ bare server', measured.list_ratio.toFixed(3)],
    ['tools/call list_threads, revision 2026-07-28', describe(measured.list_threads_stateless)],
    ['the same on a bare server of the second MCP SDK', describe(measured.bare_stateless)],
    ['service ÷ bare server, revision 2026-07-28', measured.list_ratio_stateless.toFixed(3)],
    [`tools/call send_message, ${measured.in_flight} in flight`, describe(measured.send_by_tool)],
    ['POST …/messages', describe(measured.send_by_rest)],
    ['tool ÷ REST', measured.send_ratio.toFixed(3)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}
