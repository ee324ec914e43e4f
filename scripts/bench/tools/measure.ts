import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { compose, type Core } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { cpuTimeOf } from '../cpu-time.ts';
import { type KeptConnection, keptConnection, messageRequest } from '../http-client.ts';
import { keepInFlight, perSecond, type Rate, sum } from '../in-flight.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { makeThreads, type Thread, tokenOf } from '../population.ts';
import { numberedContent } from '../receivers.ts';
import type { Stage } from '../stage.ts';
import { startBareServer } from '../streams/bare.ts';
import { type Caller, callTool, openSession } from './caller.ts';

export interface ToolsOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  say: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

interface Measured {
  per_s: number;
  ms: Percentiles;
  /** CPU milliseconds of the serving process for each call; null where the system does not tell. */
  cpu_ms: number | null;
}

export interface ToolsMeasured {
  list_threads: Measured;
  bare: Measured;
  /** `list_threads` by what the bare server does. */
  list_ratio: number;
  send_by_tool: Measured;
  send_by_rest: Measured;
  send_ratio: number;
  in_flight: number;
  threads: number;
}

const rounds = 3;
const warmUp_s = 2;
const program = fileURLToPath(new URL('./bare-server.js', import.meta.url));

type Call = (connection: KeptConnection, number: number) => Promise<void>;

/** What the tool server does beside a bare one, and beside REST; see docs/performance.md for what each figure means. */
export async function measureTools(stage: Stage, options: ToolsOptions): Promise<ToolsMeasured> {
  const { say, signal, fail, in_flight } = options;
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  const bare = await startBareServer({ program, signal, fail });
  try {
    const threads = await makeThreads(core, 'tools', options.threads);
    const callers = await sessionsOf(core, stage.base, threads);
    const stranger = await openSession(bare.base, 'none');
    const at = <T>(list: readonly T[], number: number): T => {
      const one = list[number % list.length];
      if (one === undefined) throw new Error('there are no threads');
      return one;
    };
    const list: Call = (connection, id) =>
      callTool(connection, at(callers, id), { name: 'list_threads', args: {}, id });
    const trivial: Call = (connection, id) =>
      callTool(connection, stranger, { name: 'list_threads', args: {}, id });
    const byTool: Call = (connection, id) => {
      const args = {
        thread_id: at(threads, id).id,
        content: numberedContent(id),
        idempotency_key: randomUUID(),
      };
      return callTool(connection, at(callers, id), { name: 'send_message', args, id });
    };
    const byRest: Call = async (connection, id) => {
      const { id: thread_id, members } = at(threads, id);
      const sender = members[0];
      const message = { thread_id, token: sender.token, key: randomUUID(), content: numberedContent(id) };
      const { status, body } = await connection.send(messageRequest({ base: stage.base, ...message }));
      if (status !== 201) throw new Error(`POST answered ${status}: ${body.slice(0, 300)}`);
    };
    const api = { base: stage.base, pid: stage.pids.api };
    const rows = [
      gauge('list_threads', api, list),
      gauge('the bare server', bare, trivial),
      gauge('send_message', api, byTool),
      gauge('POST …/messages', api, byRest),
    ] as const;
    say('warming up');
    for (const row of rows) await row.run(in_flight, warmUp_s, signal);
    for (const row of rows) row.forget();
    for (let round = 1; round <= rounds; round += 1) {
      for (const row of rows) await row.run(in_flight, options.seconds / rounds, signal);
      say(`round ${round}: ${rows.map((row) => `${row.name} ${row.measured().per_s}/s`).join(', ')}`);
    }
    const [list_threads, bareMeasured, send_by_tool, send_by_rest] = [
      rows[0].measured(),
      rows[1].measured(),
      rows[2].measured(),
      rows[3].measured(),
    ];
    return {
      list_threads,
      bare: bareMeasured,
      list_ratio: ratio(list_threads, bareMeasured),
      send_by_tool,
      send_by_rest,
      send_ratio: ratio(send_by_tool, send_by_rest),
      in_flight,
      threads: options.threads,
    };
  } finally {
    await bare.stop();
    await core.close();
  }
}

/** One session for the first member of each thread. */
async function sessionsOf(core: Core, base: string, threads: readonly Thread[]): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const { members } of threads) {
    callers.push(await openSession(base, await tokenOf(core, members[0].handle, 'mcp')));
  }
  return callers;
}

/** Repeats one kind of call and gathers what it took. */
function gauge(name: string, { base, pid }: { base: string; pid: number }, call: Call) {
  let taken: number[] = [];
  let spent: number | null = 0;
  let rates: Rate[] = [];
  let next = 0;
  return {
    name,
    async run(lanes: number, seconds: number, signal: AbortSignal): Promise<void> {
      const connections = Array.from({ length: lanes }, () => keptConnection(base));
      const free = [...connections];
      const before = cpuTimeOf(pid);
      const rate = await keepInFlight(lanes, seconds, signal, async () => {
        const connection = free.pop();
        if (!connection) throw new Error('more calls than lanes');
        const start = performance.now();
        await call(connection, next++);
        taken.push(performance.now() - start);
        free.push(connection);
      });
      rates.push(rate);
      const after = cpuTimeOf(pid);
      spent = before === null || after === null || spent === null ? null : spent + after - before;
      for (const connection of connections) connection.close();
    },
    forget() {
      taken = [];
      rates = [];
      spent = 0;
    },
    measured: (): Measured => ({
      per_s: Math.round(perSecond(sum(rates))),
      ms: percentiles(taken),
      cpu_ms: spent === null ? null : Math.round((spent / taken.length) * 1000) / 1000,
    }),
  };
}

function ratio(one: Measured, other: Measured): number {
  return Math.round((one.per_s / other.per_s) * 1000) / 1000;
}

/** The figures for people. */
export function toolsTable(measured: ToolsMeasured): string {
  const words = ({ per_s, ms, cpu_ms }: Measured) =>
    `${per_s}/s, p50 ${ms.p50} ms, p95 ${ms.p95} ms, p99 ${ms.p99} ms, CPU ${cpu_ms ?? '?'} ms a call`;
  const rows: [string, string][] = [
    [`tools/call list_threads, ${measured.in_flight} in flight`, words(measured.list_threads)],
    ['the same of a bare server of the MCP SDK', words(measured.bare)],
    ['service ÷ bare server', measured.list_ratio.toFixed(3)],
    [`tools/call send_message, ${measured.in_flight} in flight`, words(measured.send_by_tool)],
    ['POST …/messages', words(measured.send_by_rest)],
    ['tool ÷ REST', measured.send_ratio.toFixed(3)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}
