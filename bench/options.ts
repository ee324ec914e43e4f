import { parseArgs } from 'node:util';
import { findRedisServer } from '../src/embedded/redis.ts';

/** What each suite measures. */
const parts = {
  sending:
    'POST …/messages at full speed with delivery and indexing, the SQL of a send alone, and the time from a POST to the frame at --rate',
  batches: 'POST …/messages:batch with 1, 10 and 100 messages each, compared with POST …/messages, in turn',
  hot: 'messages/s of many agents to one, and in one thread, compared with those in many threads, in turn',
  leases:
    'leases acknowledged by 8 instances of one agent, and the cost of a send to agents with and without an inbox; Linux only',
  history:
    'lists and searches of an agent while one history grows, and the cost of a send at its first and last size',
  console:
    'what the console reads for a person with 200 agents in 10,000 threads; with the last size of --messages',
  tokens: 'the check of an access token, cached and looked up',
  a2a: 'SendMessage and GetTask of A2A compared with the same calls of REST, and the time to an answer of an agent on a WebSocket at --rate',
  remote:
    'messages to agents of another installation until they arrive, compared with agents of the same one, in turn; use --threads 32',
  mcp: 'tools/call compared with bare servers of the MCP SDKs, and the tool send_message compared with POST …/messages',
  uploads:
    '20 parallel uploads of 10 MB compared with the same bytes written directly to the folder; Linux only',
  reconnect: 'many clients that reconnect simultaneously with old cursors, until all have every event',
  peers:
    'messages/s, a thread with many members, idle sockets, and what is lost after kill -9: the service beside ejabberd, NATS JetStream and Redis Streams, if they are installed, and a bare ws relay; about 20 minutes; Linux only',
  nodes:
    'the cost of a message with two APIs and two workers, and with two separate installations, compared with one; Linux only',
  goals:
    'sending, a thread of many members, idle sockets, nodes and history, each compared with its goal on 2 processors; about 15 minutes; Linux only',
  soak: '30 minutes of sending at a steady rate: memory of each process, queue, outbox and tables; Linux only',
  days: 'days of the service in minutes, by moving the clock of all processes an hour at a time: whether everything that ends with time does, and nothing grows; needs libfaketime',
} as const;

type Part = keyof typeof parts;

/** The options with a value: default, and help. */
const valued = {
  backend: [undefined, 'redis or postgres (redis if installed, else postgres)'],
  'rate-limits': ['off', 'the value of RATE_LIMITS; use high limits to measure the cost of counting'],
  profile: [undefined, 'a folder for CPU profiles of the API and the worker'],
  graph: [undefined, 'soak, days: an SVG file for its minutes or hours'],
  seconds: ['10', 'duration of each measurement'],
  threads: ['64', 'threads of two members'],
  'in-flight': ['32', 'concurrent calls; transactions with the SQL alone share 20 connections'],
  rate: [undefined, 'messages per second: sending (200), a2a (50), soak (100), days (20)'],
  messages: ['10000,100000,1000000', 'sizes of the history'],
  'other-threads': ['1800', 'history: threads without the agent, with their share of the messages; can be 0'],
  requests: ['200', 'history, console: requests of each kind at each size'],
  sockets: ['8000', 'peers, goals: number of idle sockets'],
  clients: ['2000', 'reconnect: number of clients'],
  events: ['50', 'reconnect: number of events after their cursors'],
  members: ['200', 'peers, goals: members of the thread'],
  servers: ['', 'peers: words of the names of servers, such as service,ws (all)'],
  measures: ['', 'peers: some of idle,pairs,steady,thread,losses (all)'],
  minutes: ['30', 'soak: duration, at least 4'],
  hours: ['120', 'days: hours of the moved clock, at least 120'],
} as const;

type ValuedName = keyof typeof valued;

const toLines = (rows: readonly (readonly [string, string])[], width: number) =>
  rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n');

export const usage = `npm run bench [-- <suite> <options>]: measures the performance of the service on this machine; see docs/performance.md.
Starts its own PostgreSQL (with fsync), Redis if installed, API and worker, and removes them at the end.

Suites (sending):
${toLines(Object.entries(parts), 11)}

Options:
${toLines(
  Object.entries(valued).map(([name, [value, text]]) => [
    `--${name} <value>`,
    value ? `${text} (${value})` : text,
  ]),
  26,
)}
  --json                    one object on stdout instead of text
  --help                    this text
`;

export type Options = ReturnType<typeof readOptions>;

/** Parses and checks the arguments. @throws one line that names the option. */
export function readOptions() {
  const options = Object.fromEntries(Object.keys(valued).map((name) => [name, { type: 'string' }]));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...(options as Record<ValuedName, { type: 'string' }>),
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [part = 'sending', ...rest] = positionals;
  if (!Object.hasOwn(parts, part) || rest.length > 0) {
    const names = Object.keys(parts).join(', ');
    throw new Error(`${positionals.join(' ')}: unknown; use one of ${names}; sending is the default`);
  }
  const hasRedis = findRedisServer() !== null;
  const backend = values.backend ?? (hasRedis ? 'redis' : 'postgres');
  if (backend !== 'redis' && backend !== 'postgres') throw new Error('--backend: must be redis or postgres');
  if (backend === 'redis' && !hasRedis)
    throw new Error('--backend: no valkey-server or redis-server on PATH');
  const read = (name: ValuedName, fallback = '') => values[name] ?? valued[name][0] ?? fallback;
  const number = (name: ValuedName, fallback?: string) => parsePositive(`--${name}`, read(name, fallback));
  const integer = (name: ValuedName) => parseInteger(`--${name}`, read(name));
  const list = (name: ValuedName) => read(name).split(',').filter(Boolean);
  return {
    part: part as Part,
    sending: {
      seconds: number('seconds'),
      threads: Math.ceil(number('threads')),
      in_flight: integer('in-flight'),
      rate: number('rate', '200'),
    },
    history: {
      messages: parseIncreasing('--messages', read('messages')),
      other_threads: read('other-threads') === '0' ? 0 : integer('other-threads'),
      requests: integer('requests'),
    },
    streams: {
      sockets: integer('sockets'),
      clients: integer('clients'),
      events: integer('events'),
      members: integer('members'),
      servers: list('servers'),
      measures: list('measures'),
    },
    a2a: { rate: number('rate', '50') },
    soak: { minutes: integer('minutes'), rate: number('rate', '100') },
    days: { hours: integer('hours'), rate: number('rate', '20') },
    backend,
    rate_limits: read('rate-limits'),
    profile: values.profile,
    graph: values.graph,
    json: values.json,
    help: values.help,
  };
}

function parsePositive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`${name}: must be a number above 0`);
}

function parseInteger(name: string, text: string): number {
  const value = parsePositive(name, text);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`${name}: must be a whole number`);
}

function parseIncreasing(name: string, text: string): number[] {
  const sizes = text.split(',').map((size) => parseInteger(name, size));
  if (sizes.every((size, at) => size > (sizes[at - 1] ?? 0))) return sizes;
  throw new Error(`${name}: each size must be greater than the one before`);
}
