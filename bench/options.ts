import { parseArgs } from 'node:util';
import { hasRedis } from './environment.ts';

export const usage = `npm run bench: what the service does on this machine, in one run; see docs/performance.md.

npm run bench              sending:
  (a) the SQL of a send alone, through pg, with 32 in flight
  (b) POST …/messages with 32 in flight through one API and one worker process, delivery and indexing keeping up
  (c) the time from a POST to the frame at the receiver's socket, at --rate

npm run bench -- history   reading, while one history grows:
  lists of threads and messages, first pages and deep ones, and message search, for an agent in 200 threads;
  and what a send costs at the first size and at the last, in turn, beside one another

npm run bench -- tokens    the check of an access token, known to the process and looked up

npm run bench -- mcp       tools/call list_threads beside a bare server of the MCP SDK with one trivial tool, and send_message by
                           tool beside POST …/messages

npm run bench -- uploads   20 uploads of 10 MB at once: memory of the API, and MB/s beside the same bytes written straight to the
                           store (a folder; the bucket of S3_BUCKET and S3_* when they are set); Linux only

npm run bench -- sockets   resident memory of idle sockets, each of an agent of its own, beside a bare ws server; Linux only

npm run bench -- reconnect many clients that come back at once with old cursors, until all are whole

npm run bench -- fan-out   a thread of many connected members: from a POST to each socket at a steady rate, and frames/s at
                           full speed, beside a bare ws server

npm run bench -- nodes     what a message costs two APIs and two workers, beside one of each, in turn; Linux only

npm run bench -- goals     sending, fan-out, sockets, history and nodes one after the other, each held against what the service is meant
                           to reach on 2 processors; about a quarter of an hour; Linux only

npm run bench -- soak      half an hour of sending at a steady rate: memory of each process, queue, outbox and tables; Linux only

Starts PostgreSQL (with fsync), Redis if there is one, an API and a worker of its own, and removes them at the end.

  --backend <name>         redis or postgres (redis if there is one, else postgres)
  --redis-server <path>    a Redis or Valkey program that is not on PATH
  --rate-limits <setting>  what RATE_LIMITS is (off); high limits measure what counting costs
  --profile <folder>       writes CPU profiles of API and worker there
  --json                   one object on stdout instead of a table
  --help                   this text

Of sending:
  --seconds <n>            of each measurement (10)
  --threads <n>            threads of two members (64)
  --in-flight <n>          calls under way at once, of mcp and nodes too; transactions of (a) wait for one of 20 connections (32)
  --rate <n>               messages a second of (c) (200)

Of history:
  --messages <list>        sizes of the history (10000,100000,1000000)
  --other-threads <n>      threads that the agent is not in, with their share of the messages (1800; 0: all messages are its own)
  --requests <n>           of each kind at each size (200)
  --seconds <n>            of each measurement of sending (10)

Of sockets:
  --sockets <n>            (5000)

Of reconnect:
  --clients <n>            (2000)
  --events <n>             how old their cursors are (50)

Of fan-out:
  --members <n>            of the thread (200)
  --rate <n>               messages a second (20)
  --seconds <n>            of each measurement (10)

Of soak:
  --minutes <n>            at least 4 (30)
  --rate <n>               messages a second (100)
  --threads <n>            threads of two members (64)
`;

const parts = [
  'sending',
  'nodes',
  'history',
  'tokens',
  'mcp',
  'uploads',
  'sockets',
  'reconnect',
  'fan-out',
  'goals',
  'soak',
] as const;

export type Options = ReturnType<typeof readOptions>;

/** The arguments, checked. @throws one line that names the option. */
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
      sockets: { type: 'string', default: '5000' },
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
      `${positionals.join(' ')}: there is nothing but ${parts.join(', ')}; sending needs no name`,
    );
  }
  const redis_server = values['redis-server'];
  const backend = values.backend ?? (hasRedis(redis_server) ? 'redis' : 'postgres');
  if (backend !== 'redis' && backend !== 'postgres') throw new Error('--backend: redis or postgres');
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
