import { cpus } from 'node:os';
import { measureConsole } from './console.ts';
import { measureHistory } from './history/measure.ts';
import { measureBatches } from './messages/batches.ts';
import { measureHot } from './messages/hot.ts';
import { measureSending } from './messages/measure.ts';
import { measureLeases } from './leases.ts';
import { measureNodes } from './nodes.ts';
import type { Options } from './options.ts';
import { measurePeers } from './peers/measure.ts';
import { measureSoak } from './soak/measure.ts';
import type { Environment } from './environment.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { measureReconnect } from './streams/reconnect.ts';
import { garbageCollectionArguments } from './streams/resident-memory.ts';
import { measureSockets } from './streams/sockets.ts';
import { measureTokens } from './tokens.ts';
import { measureTools } from './tools/measure.ts';
import { measureUploads } from './uploads.ts';

/** Options and callbacks of all measurements. */
export interface Bench {
  options: Options;
  /** Starts an installation; `api_arguments` are Node options of the API process. */
  startEnvironment(api_arguments?: readonly string[]): Promise<Environment>;
  log: (line: string) => void;
  signal: AbortSignal;
  /** Ends the run when something fails outside of its calls. */
  fail: (reason: Error) => void;
}

/** Runs on a new installation and removes it afterwards. */
async function runInEnvironment<T>(
  bench: Bench,
  run: (environment: Environment) => Promise<T>,
  api_arguments: readonly string[] = [],
): Promise<T> {
  const environment = await bench.startEnvironment(api_arguments);
  try {
    const { postgres_version, redis_server } = environment;
    bench.log(`PostgreSQL ${postgres_version}, ${redis_server ?? 'no Redis'}, ${cpus().length} processors`);
    return await run(environment);
  } finally {
    await environment.stop();
  }
}

const callbacksOf = ({ log, signal, fail }: Bench) => ({ log, signal, fail });

/** All kinds of measurements, with the options of the command line. */
export const measurements = {
  sending: (bench: Bench, load: Partial<Options['sending']> = {}) => {
    const { sending, backend } = bench.options;
    return runInEnvironment(bench, (environment) =>
      measureSending(environment, { ...sending, ...load, backend, ...callbacksOf(bench) }),
    );
  },
  batches: (bench: Bench) =>
    runInEnvironment(bench, (environment) =>
      measureBatches(environment, { ...bench.options.sending, ...callbacksOf(bench) }),
    ),
  hot: (bench: Bench) =>
    runInEnvironment(bench, (environment) =>
      measureHot(environment, { ...bench.options.sending, ...callbacksOf(bench) }),
    ),
  history: (bench: Bench) => {
    const { history, sending } = bench.options;
    const more = {
      threads: 200,
      in_flight: 8,
      seconds: sending.seconds,
      startSecondEnvironment: bench.startEnvironment,
    };
    return runInEnvironment(bench, (environment) =>
      measureHistory(environment, { ...history, ...more, ...callbacksOf(bench) }),
    );
  },
  console: (bench: Bench) => {
    const { messages, requests } = bench.options.history;
    const size = { messages: messages.at(-1) ?? 0, requests };
    return runInEnvironment(bench, (environment) =>
      measureConsole(environment, { ...size, ...callbacksOf(bench) }),
    );
  },
  tokens: (bench: Bench) =>
    runInEnvironment(bench, (environment) => measureTokens(environment, bench.signal)),
  mcp: (bench: Bench) =>
    runInEnvironment(bench, (environment) =>
      measureTools(environment, { ...bench.options.sending, ...callbacksOf(bench) }),
    ),
  peers: (bench: Bench) => {
    const { seconds } = bench.options.sending;
    const { members, sockets } = bench.options.streams;
    return runInEnvironment(
      bench,
      (environment) => measurePeers(environment, { seconds, members, sockets, ...callbacksOf(bench) }),
      garbageCollectionArguments,
    );
  },
  uploads: (bench: Bench) =>
    runInEnvironment(bench, (environment) => measureUploads(environment, bench.signal)),
  sockets: (bench: Bench) =>
    runInEnvironment(
      bench,
      (environment) => measureSockets(environment, { ...bench.options.streams, ...callbacksOf(bench) }),
      garbageCollectionArguments,
    ),
  reconnect: (bench: Bench) =>
    runInEnvironment(bench, (environment) =>
      measureReconnect(environment, { ...bench.options.streams, ...callbacksOf(bench) }),
    ),
  fanOut: (bench: Bench) => {
    const { sending, streams } = bench.options;
    return runInEnvironment(bench, (environment) =>
      measureFanOut(environment, { ...sending, ...streams, ...callbacksOf(bench) }),
    );
  },
  nodes: (bench: Bench) => {
    const nodes = {
      ...bench.options.sending,
      startSecondEnvironment: bench.startEnvironment,
      ...callbacksOf(bench),
    };
    return runInEnvironment(bench, (environment) => measureNodes(environment, nodes));
  },
  leases: (bench: Bench) =>
    runInEnvironment(bench, (environment) =>
      measureLeases(environment, { ...bench.options.sending, ...callbacksOf(bench) }),
    ),
  soak: (bench: Bench) => {
    const { sending, soak } = bench.options;
    return runInEnvironment(bench, (environment) =>
      measureSoak(environment, { ...soak, threads: sending.threads, ...callbacksOf(bench) }),
    );
  },
};
