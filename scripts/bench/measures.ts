import { cpus } from 'node:os';
import { measureHistory } from './history/measure.ts';
import { measure } from './measure.ts';
import { measureNodes } from './nodes.ts';
import type { Options } from './options.ts';
import { measureSoak } from './soak/measure.ts';
import type { Stage } from './stage.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { measureReconnect } from './streams/reconnect.ts';
import { settling } from './streams/resident.ts';
import { measureSockets } from './streams/sockets.ts';
import { measureTokens } from './tokens.ts';
import { measureTools } from './tools/measure.ts';
import { measureUploads } from './uploads.ts';

/** What all measurements need. */
export interface Bench {
  options: Options;
  /** Starts an installation; `api_arguments` are told to Node when it starts the API. */
  open(api_arguments?: readonly string[]): Promise<Stage>;
  say: (line: string) => void;
  signal: AbortSignal;
  /** Ends the run when something outside of its calls goes wrong. */
  fail: (reason: Error) => void;
}

/** Runs on an installation of its own, which is gone afterwards. */
async function on<T>(
  bench: Bench,
  run: (stage: Stage) => Promise<T>,
  api_arguments: readonly string[] = [],
): Promise<T> {
  const stage = await bench.open(api_arguments);
  try {
    const { postgres_version, redis_server } = stage;
    bench.say(`PostgreSQL ${postgres_version}, ${redis_server ?? 'no Redis'}, ${cpus().length} processors`);
    return await run(stage);
  } finally {
    await stage.stop();
  }
}

const told = ({ say, signal, fail }: Bench) => ({ say, signal, fail });

/** Each kind of measurement, with the options that the command line gave it. */
export const measures = {
  sending: (bench: Bench, load: Partial<Options['sending']> = {}) => {
    const { sending, backend } = bench.options;
    return on(bench, (stage) => measure(stage, { ...sending, ...load, backend, ...told(bench) }));
  },
  history: (bench: Bench) => {
    const { history, sending } = bench.options;
    const more = { threads: 200, in_flight: 8, seconds: sending.seconds, startOther: bench.open };
    return on(bench, (stage) => measureHistory(stage, { ...history, ...more, ...told(bench) }));
  },
  tokens: (bench: Bench) => on(bench, (stage) => measureTokens(stage, bench.signal)),
  mcp: (bench: Bench) =>
    on(bench, (stage) => measureTools(stage, { ...bench.options.sending, ...told(bench) })),
  uploads: (bench: Bench) => on(bench, (stage) => measureUploads(stage, bench.signal)),
  sockets: (bench: Bench) =>
    on(bench, (stage) => measureSockets(stage, { ...bench.options.streams, ...told(bench) }), settling),
  reconnect: (bench: Bench) =>
    on(bench, (stage) => measureReconnect(stage, { ...bench.options.streams, ...told(bench) })),
  fanOut: (bench: Bench) => {
    const { sending, streams } = bench.options;
    return on(bench, (stage) => measureFanOut(stage, { ...sending, ...streams, ...told(bench) }));
  },
  nodes: (bench: Bench) => {
    const nodes = { ...bench.options.sending, startOther: bench.open, ...told(bench) };
    return on(bench, (stage) => measureNodes(stage, nodes));
  },
  soak: (bench: Bench) => {
    const { sending, soak } = bench.options;
    return on(bench, (stage) => measureSoak(stage, { ...soak, threads: sending.threads, ...told(bench) }));
  },
};
