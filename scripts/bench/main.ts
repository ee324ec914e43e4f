import { setMaxListeners } from 'node:events';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { oneLine } from '../../src/embedded/launcher-error.ts';
import { measure } from './measure.ts';
import { table } from './report.ts';
import { hasRedis, startStage } from './stage.ts';

const usage = `npm run bench: what the service does on this machine, in one run; see docs/performance.md.

  (a) the SQL of a send alone, through pg, with 32 in flight
  (b) POST …/messages with 32 in flight through one API and one worker process, delivery and indexing keeping up
  (c) the time from a POST to the frame at the receiver's socket, at half the rate of (b)

Starts PostgreSQL (with fsync), Redis if there is one, an API and a worker of its own, and removes them at the end.

  --seconds <n>            of each measurement (10)
  --backend <name>         redis or postgres (redis if there is one, else postgres)
  --redis-server <path>    a Redis or Valkey program that is not on PATH
  --threads <n>            threads of two members (64)
  --rate-limits <setting>  what RATE_LIMITS is (off); high limits measure what counting costs
  --profile <folder>       writes CPU profiles of API and worker there
  --json                   one object on stdout instead of a table
  --help                   this text
`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      backend: { type: 'string' },
      'redis-server': { type: 'string' },
      threads: { type: 'string', default: '64' },
      'rate-limits': { type: 'string', default: 'off' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const redis_server = values['redis-server'];
  const backend = values.backend ?? (hasRedis(redis_server) ? 'redis' : 'postgres');
  if (backend !== 'redis' && backend !== 'postgres') throw new Error('--backend: redis or postgres');
  if (backend === 'redis' && !hasRedis(redis_server)) {
    throw new Error(
      '--backend: no valkey-server or redis-server on PATH; name one with --redis-server <path>',
    );
  }
  const seconds = positive('--seconds', values.seconds);
  const threads = Math.ceil(positive('--threads', values.threads));
  const { json, help, profile, 'rate-limits': rate_limits } = values;
  return { seconds, threads, backend, redis_server, rate_limits, profile, json, help } as const;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`${name}: must be a number above 0`);
}

async function main(): Promise<void> {
  const { json, help, ...options } = readOptions();
  if (help) {
    process.stdout.write(usage);
    return;
  }
  const over = new AbortController();
  const fail = (reason: Error) => over.abort(reason);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => fail(new Error('interrupted')));
  }
  // Whoever reads may go away first, as head does: that ends the run in order, as any fault does, and nothing is left behind.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const { signal } = over;
  setMaxListeners(0, signal); // every wait listens to it
  const stage = await startStage({ ...options, signal, fail });
  try {
    const { postgres_version, redis_server } = stage;
    say(`PostgreSQL ${postgres_version}, ${redis_server ?? 'no Redis'}, ${cpus().length} processors`);
    const measured = await measure(stage, { ...options, in_flight: 32, say, signal, fail });
    process.stdout.write(json ? `${JSON.stringify(measured)}\n` : table(measured));
  } catch (error) {
    signal.throwIfAborted(); // what was first is the cause
    throw error;
  } finally {
    await stage.stop();
  }
}

process.exit(
  await main().then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`${oneLine(error)}\n`);
      return 1;
    },
  ),
);
