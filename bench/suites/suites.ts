import { formatFigures } from '../report.ts';
import type { Options } from '../options.ts';
import type { Bench } from '../start/service.ts';
import { measureBatches } from './batches.ts';
import { measureConsole } from './console.ts';
import { measureFanOut } from './fan-out.ts';
import { formatGoals, measureGoals } from './goals.ts';
import { measureHistory } from './history.ts';
import { measureHot } from './hot.ts';
import { measureLeases } from './leases.ts';
import { measureNodes } from './nodes.ts';
import { measurePeers } from './peers.ts';
import { measureReconnect } from './reconnect.ts';
import { measureSending } from './sending.ts';
import { measureSoak } from './soak.ts';
import { measureSockets } from './sockets.ts';
import { measureTokens } from './tokens.ts';
import { measureTools } from './tools.ts';
import { measureUploads } from './uploads.ts';

/** The measured figures as data and as text. */
interface SuiteResult {
  figures: object;
  text: string;
}

function defineSuite<Figures extends object>(
  measure: (bench: Bench) => Promise<Figures>,
  format: (figures: Figures) => string = formatFigures,
): (bench: Bench) => Promise<SuiteResult> {
  return async (bench) => {
    const figures = await measure(bench);
    return { figures, text: format(figures) };
  };
}

/** The suites of the benchmark by their command line names. */
export const suites: Record<Options['part'], (bench: Bench) => Promise<SuiteResult>> = {
  sending: defineSuite(measureSending),
  batches: defineSuite(measureBatches),
  hot: defineSuite(measureHot),
  leases: defineSuite(measureLeases),
  nodes: defineSuite(measureNodes),
  console: defineSuite(measureConsole),
  history: defineSuite(measureHistory),
  tokens: defineSuite(measureTokens),
  mcp: defineSuite(measureTools),
  peers: defineSuite(measurePeers),
  uploads: defineSuite(measureUploads),
  sockets: defineSuite(measureSockets),
  reconnect: defineSuite(measureReconnect),
  'fan-out': defineSuite(measureFanOut),
  goals: defineSuite(measureGoals, formatGoals),
  soak: defineSuite(measureSoak),
};
