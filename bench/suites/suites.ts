import type { Options } from '../options.ts';
import type { Bench } from '../start/service.ts';
import { measureA2a } from './a2a.ts';
import { measureBatches } from './batches.ts';
import { measureConsole } from './console.ts';
import { measureDays } from './days.ts';
import { measureGoals } from './goals.ts';
import { measureHistory } from './history.ts';
import { measureHot } from './hot.ts';
import { measureLeases } from './leases.ts';
import { measureNodes } from './nodes.ts';
import { measurePeers } from './peers.ts';
import { measureReconnect } from './reconnect.ts';
import { measureRemote } from './remote.ts';
import { measureSending } from './sending.ts';
import { measureSoak } from './soak.ts';
import { measureTokens } from './tokens.ts';
import { measureTools } from './tools.ts';
import { measureUploads } from './uploads.ts';

/** The suites of the benchmark by their command line names. */
export const suites: Record<Options['part'], (bench: Bench) => Promise<object>> = {
  sending: measureSending,
  batches: measureBatches,
  hot: measureHot,
  leases: measureLeases,
  nodes: measureNodes,
  console: measureConsole,
  history: measureHistory,
  tokens: measureTokens,
  a2a: measureA2a,
  remote: measureRemote,
  mcp: measureTools,
  peers: measurePeers,
  uploads: measureUploads,
  reconnect: measureReconnect,
  goals: measureGoals,
  soak: measureSoak,
  days: measureDays,
};
