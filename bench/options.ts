import { parseArgs } from 'node:util';
import { hasRedis } from './environment.ts';

export const usage = `npm run bench: measures the performance of the service on this machine; see docs/performance.md.

npm run bench              sending:
  (a) the SQL of a send alone, through pg, with 32 in flight
  (b) POST …/messages with 32 in flight through one API and one worker process, including delivery and indexing
  (c) the time from a POST to the frame on the receiver's socket, at --rate

npm run bench -- batches   POST …/messages:batch with 100 messages each, compared with POST …/messages, in turn

npm run bench -- hot       messages/s of many agents to one, and in one thread, compared with those in many threads, in turn

npm run bench -- leases    leases acknowledged by 8 instances of one agent, and the cost of a send to agents with an inbox, compared in
                           turn with agents without one; Linux only

npm run bench -- history   reads while one history grows:
  lists of threads and messages, first pages and deep ones, and message search, for an agent in 200 threads;
  and the cost of a send at the first size and at the last, measured alternately

npm run bench -- console   what the console reads for a person with 200 agents in 10,000 threads: conversations, a thread of 100,000
                           messages, and missing answers; with the last size of --messages

npm run bench -- tokens    the check of an access token, cached and looked up

npm run bench -- mcp       tools/call list_threads compared with a bare server of the MCP SDK with one trivial tool, in
                           revisions 2025-11-25 and 2026-07-28, and the tool send_message compared with POST …/messages

npm run bench -- uploads   20 parallel uploads of 10 MB: memory of the API, and MB/s compared with the same bytes written directly
                           to the store (a folder, or the bucket of S3_BUCKET and S3_* when they are set); Linux only

npm run bench -- sockets   resident memory of idle sockets, one per agent, compared with a bare ws server; Linux only

npm run bench -- reconnect many clients that reconnect simultaneously with old cursors, until all have every event

npm run bench -- fan-out   a thread with many connected members: the time from a POST to each socket at a steady rate, and
                           frames/s at full speed, compared with a bare ws server

npm run bench -- peers     ejabberd with its archive in PostgreSQL, if it is installed, and a bare ws relay beside the service, measure
                           by measure in turn: messages/s with 32 and 256 in flight, the time to the other agent, a thread with
                           many members, idle sockets and connects/s; takes about 8 minutes; Linux only

npm run bench -- nodes     the cost of a message with two APIs and two workers, without affinity and with each thread at one API, and
                           with two separate installations that share the load, compared with one of each; Linux only

npm run bench -- goals     sending, fan-out, sockets, history and nodes one after the other, each compared with its goal on 2
                           processors; takes about 15 minutes; Linux only

npm run bench -- soak      30 minutes of sending at a steady rate: memory of each process, queue, outbox and tables; Linux only

Starts its own PostgreSQL (with fsync), Redis if installed, API and worker, and removes them at the end.

  --backend <name>         redis or postgres (redis if installed, else postgres)
  --redis-server <path>    a Redis or Valkey program that is not on PATH
  --rate-limits <setting>  the value of RATE_LIMITS (off); use high limits to measure the cost of counting
  --profile <folder>       writes CPU profiles of the API and the worker to this folder
  --json                   one object on stdout instead of a table
  --help                   this text

Options of sending, batches, hot and leases:
  --seconds <n>            duration of each measurement (10)
  --threads <n>            number of threads of two members (64)
  --in-flight <n>          concurrent calls, also of mcp and nodes; transactions of (a) share 20 connections (32)
  --rate <n>               messages per second of (c) (200)

Options of history and console:
  --messages <list>        sizes of the history (10000,100000,1000000)
  --other-threads <n>      threads without the agent, with their share of the messages (1800; 0: the agent is in all threads)
  --requests <n>           requests of each kind at each size (200)
  --seconds <n>            duration of each measurement of sending (10)

Options of sockets and peers:
  --sockets <n>            number of sockets (8000)

Options of reconnect:
  --clients <n>            number of clients (2000)
  --events <n>             number of events after their cursors (50)

Options of fan-out and peers:
  --members <n>            members of the thread (200)
  --rate <n>               messages per second of fan-out (20)
  --seconds <n>            duration of each measurement (10)

Options of soak:
  --minutes <n>            duration, at least 4 (30)
  --rate <n>               messages per second (100)
  --threads <n>            number of threads of two members (64)
`;

const parts = [
  'sending',
  'batches',
  'hot',
  'leases',
  'nodes',
  'history',
  'console',
  'tokens',
  'mcp',
  'uploads',
  'sockets',
  'reconnect',
  'fan-out',
  'peers',
  'goals',
  'soak',
] as const;

export type Options = ReturnType<typeof readOptions>;

/** Parses and checks the arguments. @throws one line that names the option. */
export function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '10' },
      backend: { type: 'string' },
      'redis-server': { type: 'string' },
      threads: { type: 'string', default: '64' },
      'in-flight': { type: 'string', default: '32' },
      messages: { type: 'string', default: '10000,100000,1000000' },
      'other-threads': { type: 'string', default: '1800' },
      'rate-limits': { type: 'string', default: 'off' },
      requests: { type: 'string', default: '200' },
      sockets: { type: 'string', default: '8000' },
      clients: { type: 'string', default: '2000' },
      events: { type: 'string', default: '50' },
      members: { type: 'string', default: '200' },
      rate: { type: 'string' },
      minutes: { type: 'string', default: '30' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [named = 'sending', ...rest] = positionals;
  const part = parts.find((name) => name === named);
  if (!part || rest.length > 0) {
    throw new Error(
      `${positionals.join(' ')}: unknown; use one of ${parts.join(', ')}; sending is the default`,
    );
  }
  const redis_server = values['redis-server'];
  const backend = values.backend ?? (hasRedis(redis_server) ? 'redis' : 'postgres');
  if (backend !== 'redis' && backend !== 'postgres') throw new Error('--backend: must be redis or postgres');
  if (backend === 'redis' && !hasRedis(redis_server)) {
    throw new Error(
      '--backend: no valkey-server or redis-server on PATH; name one with --redis-server <path>',
    );
  }
  const sending = {
    seconds: parsePositiveNumber('--seconds', values.seconds),
    threads: Math.ceil(parsePositiveNumber('--threads', values.threads)),
    in_flight: parseInteger('--in-flight', values['in-flight']),
    rate: parsePositiveNumber('--rate', values.rate ?? '200'),
  };
  const history = {
    messages: parseIncreasing('--messages', values.messages),
    other_threads:
      values['other-threads'] === '0' ? 0 : parseInteger('--other-threads', values['other-threads']),
    requests: parseInteger('--requests', values.requests),
  };
  const streams = {
    sockets: parseInteger('--sockets', values.sockets),
    clients: parseInteger('--clients', values.clients),
    events: parseInteger('--events', values.events),
    members: parseInteger('--members', values.members),
    rate: parsePositiveNumber('--rate', values.rate ?? '20'),
  };
  const soak = {
    minutes: parseInteger('--minutes', values.minutes),
    rate: parsePositiveNumber('--rate', values.rate ?? '100'),
  };
  const { json, help, profile, 'rate-limits': rate_limits } = values;
  return {
    part,
    sending,
    history,
    streams,
    soak,
    backend,
    redis_server,
    rate_limits,
    profile,
    json,
    help,
  } as const;
}

function parsePositiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`${name}: must be a number above 0`);
}

function parseInteger(name: string, text: string): number {
  const value = parsePositiveNumber(name, text);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`${name}: must be a whole number`);
}

function parseIncreasing(name: string, text: string): number[] {
  const sizes = text.split(',').map((size) => parseInteger(name, size));
  if (sizes.every((size, at) => size > (sizes[at - 1] ?? 0))) return sizes;
  throw new Error(`${name}: each size must be greater than the one before`);
}
