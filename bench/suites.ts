import { formatGoals, measureGoals } from './goals.ts';
import { formatConsole } from './console.ts';
import { formatHistory } from './history/report.ts';
import { type Bench, measurements } from './measurements.ts';
import { formatLeases } from './leases.ts';
import { formatNodes } from './nodes.ts';
import type { Options } from './options.ts';
import { formatBatches } from './messages/batches.ts';
import { formatHot } from './messages/hot.ts';
import { formatSendMeasurement } from './messages/report.ts';
import { formatPeers } from './peers/report.ts';
import { formatSoak } from './soak/report.ts';
import { formatFanOut } from './streams/fan-out.ts';
import { formatReconnect } from './streams/reconnect.ts';
import { formatSockets } from './streams/sockets.ts';
import { formatTokens } from './tokens.ts';
import { formatTools } from './tools/measure.ts';
import { formatUploads } from './uploads.ts';

/** The measured figures as data and as text. */
interface SuiteResult {
  figures: object;
  text: string;
}

function defineSuite<Figures extends object>(
  measure: (bench: Bench) => Promise<Figures>,
  format: (figures: Figures) => string,
): (bench: Bench) => Promise<SuiteResult> {
  return async (bench) => {
    const figures = await measure(bench);
    return { figures, text: format(figures) };
  };
}

/** The suites of the benchmark by their command line names. */
export const suites: Record<Options['part'], (bench: Bench) => Promise<SuiteResult>> = {
  sending: defineSuite(measurements.sending, formatSendMeasurement),
  batches: defineSuite(measurements.batches, formatBatches),
  hot: defineSuite(measurements.hot, formatHot),
  leases: defineSuite(measurements.leases, formatLeases),
  nodes: defineSuite(measurements.nodes, formatNodes),
  console: defineSuite(measurements.console, formatConsole),
  history: defineSuite(measurements.history, formatHistory),
  tokens: defineSuite(measurements.tokens, formatTokens),
  mcp: defineSuite(measurements.mcp, formatTools),
  peers: defineSuite(measurements.peers, formatPeers),
  uploads: defineSuite(measurements.uploads, formatUploads),
  sockets: defineSuite(measurements.sockets, formatSockets),
  reconnect: defineSuite(measurements.reconnect, formatReconnect),
  'fan-out': defineSuite(measurements.fanOut, formatFanOut),
  goals: defineSuite(measureGoals, formatGoals),
  soak: defineSuite(measurements.soak, formatSoak),
};
