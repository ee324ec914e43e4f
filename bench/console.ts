import { performance } from 'node:perf_hooks';
import { compose, type Core } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { registerAgentAsOperator } from '../src/services/agents/operator-registration.ts';
import { issueToken } from '../src/services/auth/issue-token.ts';
import { toResourceUrls, tokenLifeSeconds } from '../src/services/auth/tokens.ts';
import type { Environment } from './environment.ts';
import { openHistoryDatabase } from './history/database.ts';
import { buildGetRequest, type KeepAliveConnection, openKeepAliveConnection } from './http-client.ts';
import { type Percentiles, percentiles } from './percentiles.ts';

export interface ConsoleOptions {
  /** Messages in the 10,000 threads. */
  messages: number;
  /** Requests of each kind, with one in flight. */
  requests: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

export interface ConsoleMeasurement {
  agents: number;
  threads: number;
  messages: number;
  /** Messages of the long thread, which has two of the agents. */
  long_thread: number;
  requests: number;
  /** Milliseconds of each kind of request. */
  rows: ({ name: string; rows: number } & Percentiles)[];
}

const agents = 200;
const threads = 10_000;
const longThread = 100_000;
const warmUpRequests = 20;
/** As in generated histories. */
const messageStepMs = 30_000;

/** Measures what the console reads for a person with 200 agents: conversations, a long thread, and missing answers. */
export async function measureConsole(
  environment: Environment,
  options: ConsoleOptions,
): Promise<ConsoleMeasurement> {
  const { messages, requests, log, signal } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const connection = openKeepAliveConnection(environment.base);
  try {
    const { ids, token } = await createPerson(core);
    const load = async (parts: { ids: readonly string[]; threads: number; messages: number }) => {
      const [reader_id = '', ...agent_ids] = parts.ids;
      const history = await openHistoryDatabase({
        url: core.config.DATABASE_URL,
        reader_id,
        agent_ids,
        threads: 1,
        other_threads: parts.threads - 1,
        start: Date.now() - parts.messages * messageStepMs,
        signal,
      });
      await history.growTo(parts.messages);
      const [longest] = history.threads();
      await history.close();
      return longest?.id ?? '';
    };
    await load({ ids, threads, messages });
    const long = await load({ ids: ids.slice(0, 3), threads: 1, messages: longThread });
    log(`${threads} threads with ${messages} messages, and one with ${longThread}`);
    const call = (path: string) => getRows(connection, { base: environment.base, token, path });
    const rows: ConsoleMeasurement['rows'] = [];
    for (const [name, path] of [
      ['conversations', '/v1/conversations?limit=20'],
      ['conversations, waiting for others', '/v1/conversations?limit=20&waiting=others'],
      ['conversations, unread', '/v1/conversations?limit=20&unread=true'],
      ['the long thread, last page', `/v1/conversations/${long}`],
      ['missing answers', '/v1/waits'],
    ] as const) {
      for (let sent = 0; sent < warmUpRequests; sent += 1) await call(path);
      const times: number[] = [];
      let found = 0;
      while (times.length < requests) {
        signal.throwIfAborted();
        const start = performance.now();
        found = await call(path);
        times.push(performance.now() - start);
      }
      rows.push({ name, rows: found, ...percentiles(times) });
    }
    return { agents, threads, messages, long_thread: longThread, requests, rows };
  } finally {
    connection.close();
    await core.close();
  }
}

/** Registers the agents of one person. */
function createPerson(core: Core): Promise<{ ids: string[]; token: string }> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const ids: string[] = [];
    const handleOf = (number: number) => `console-reader.agent-${number}`;
    while (ids.length < agents) {
      const agent = { handle: handleOf(ids.length), create_owner: ids.length === 0 };
      ids.push((await registerAgentAsOperator(work, { ...agent, inbound_policy: 'open' })).id);
    }
    const { access_token } = await issueToken(work, {
      handle: handleOf(0),
      resource: toResourceUrls(core.config.PUBLIC_URL).api,
      scopes: ['threads:read', 'conversations:read'],
      expires_in: tokenLifeSeconds,
    });
    return { ids, token: access_token };
  });
}

/** The number of rows in the answer to a GET. @throws when the status is not 200. */
async function getRows(
  connection: KeepAliveConnection,
  request: { base: string; token: string; path: string },
): Promise<number> {
  const { status, body } = await connection.send(buildGetRequest(request));
  if (status !== 200) throw new Error(`GET ${request.path} answered ${status}: ${body.slice(0, 300)}`);
  const page = JSON.parse(body) as Record<string, unknown>;
  const list = page['conversations'] ?? page['messages'] ?? page['waits'];
  return Array.isArray(list) ? list.length : 0;
}

/** Formats the figures as text. */
export function formatConsole(measured: ConsoleMeasurement): string {
  const { agents: count, messages, long_thread, requests, rows } = measured;
  const head = `A person with ${count} agents in ${measured.threads} threads with ${messages} messages, and in one with ${long_thread}`;
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(
    ({ name, rows: found, p50, p95, p99 }) =>
      `${name.padEnd(width)}  ${String(found).padStart(4)} rows  ${p50} / ${p95} / ${p99}`,
  );
  return `${head}\n${requests} requests of each kind, one in flight; milliseconds, p50 / p95 / p99\n${lines.join('\n')}\n`;
}
