import { cpus } from 'node:os';
import { measureHistory } from './history/measure.ts';
import { measureSending } from './messages/measure.ts';
import { measureNodes } from './nodes.ts';
import type { Options } from './options.ts';
import { measureSoak } from './soak/measure.ts';
import type { Environment } from './environment.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { measureReconnect } from './streams/reconnect.ts';
import { garbageCollectionArguments } from './streams/resident-memory.ts';
import { measureSockets } from './streams/sockets.ts';
import { measureTokens } from './tokens.ts';
import { measureTools } from './tools/measure.ts';
import { measureUploads } from './uploads.ts';

/** What all measurements need. */
export interface Bench {
  options: Options;
  /** Starts an installation; `api_arguments` are told to Node when it starts the API. */
  startedEnvironments(api_arguments?: readonly string[]): Promise<Environment>;
  log: (line: string) => void;
  signal: AbortSignal;
  /** Ends the run when something outside of its calls goes wrong. */
  fail: (reason: Error) => void;
}

/** Runs on an installation of its own, which is gone afterwards. */
async function runInEnvironment<T>(
  bench: Bench,
  run: (stage: Environment) => Promise<T>,
  api_arguments: readonly string[] = [],
): Promise<T> {
  const stage = await bench.startedEnvironments(api_arguments);
  try {
    const { postgres_version, redis_server } = stage;
    bench.log(`PostgreSQL ${postgres_version}, ${redis_server ?? 'no Redis'}, ${cpus().length} processors`);
    return await run(stage);
  } finally {
    await stage.stop();
  }
}

const callbacksOf = ({ log, signal, fail }: Bench) => ({ log, signal, fail });

/** Each kind of measurement, with the options that the command line gave it. */
export const measurements = {
  sending: (bench: Bench, load: Partial<Options['sending']> = {}) => {
    const { sending, backend } = bench.options;
    return runInEnvironment(bench, (stage) =>
      measureSending(stage, { ...sending, ...load, backend, ...callbacksOf(bench) }),
    );
  },
  history: (bench: Bench) => {
    const { history, sending } = bench.options;
    const more = {
      threads: 200,
      in_flight: 8,
      seconds: sending.seconds,
      startSecondEnvironment: bench.startedEnvironments,
    };
    return runInEnvironment(bench, (stage) =>
      measureHistory(stage, { ...history, ...more, ...callbacksOf(bench) }),
    );
  },
  tokens: (bench: Bench) => runInEnvironment(bench, (stage) => measureTokens(stage, bench.signal)),
  mcp: (bench: Bench) =>
    runInEnvironment(bench, (stage) =>
      measureTools(stage, { ...bench.options.sending, ...callbacksOf(bench) }),
    ),
  uploads: (bench: Bench) => runInEnvironment(bench, (stage) => measureUploads(stage, bench.signal)),
  sockets: (bench: Bench) =>
    runInEnvironment(
      bench,
      (stage) => measureSockets(stage, { ...bench.options.streams, ...callbacksOf(bench) }),
      garbageCollectionArguments,
    ),
  reconnect: (bench: Bench) =>
    runInEnvironment(bench, (stage) =>
      measureReconnect(stage, { ...bench.options.streams, ...callbacksOf(bench) }),
    ),
  fanOut: (bench: Bench) => {
    const { sending, streams } = bench.options;
    return runInEnvironment(bench, (stage) =>
      measureFanOut(stage, { ...sending, ...streams, ...callbacksOf(bench) }),
    );
  },
  nodes: (bench: Bench) => {
    const nodes = {
      ...bench.options.sending,
      startSecondEnvironment: bench.startedEnvironments,
      ...callbacksOf(bench),
    };
    return runInEnvironment(bench, (stage) => measureNodes(stage, nodes));
  },
  soak: (bench: Bench) => {
    const { sending, soak } = bench.options;
    return runInEnvironment(bench, (stage) =>
      measureSoak(stage, { ...soak, threads: sending.threads, ...callbacksOf(bench) }),
    );
  },
};
