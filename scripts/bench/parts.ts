import { goalsTable, measureGoals } from './goals.ts';
import { historyTable } from './history/report.ts';
import { type Bench, measures } from './measures.ts';
import { nodesTable } from './nodes.ts';
import type { Options } from './options.ts';
import { table } from './report.ts';
import { soakTable } from './soak/report.ts';
import { fanOutTable } from './streams/fan-out.ts';
import { reconnectTable } from './streams/reconnect.ts';
import { socketsTable } from './streams/sockets.ts';
import { tokensTable } from './tokens.ts';
import { toolsTable } from './tools/measure.ts';
import { uploadsTable } from './uploads.ts';

/** What is measured, for programs and for people. */
interface Outcome {
  figures: object;
  text: string;
}

function part<Figures extends object>(
  measure: (bench: Bench) => Promise<Figures>,
  tell: (figures: Figures) => string,
): (bench: Bench) => Promise<Outcome> {
  return async (bench) => {
    const figures = await measure(bench);
    return { figures, text: tell(figures) };
  };
}

/** The parts of the benchmark by the names that the command line has for them. */
export const parts: Record<Options['part'], (bench: Bench) => Promise<Outcome>> = {
  sending: part(measures.sending, table),
  nodes: part(measures.nodes, nodesTable),
  history: part(measures.history, historyTable),
  tokens: part(measures.tokens, tokensTable),
  mcp: part(measures.mcp, toolsTable),
  uploads: part(measures.uploads, uploadsTable),
  sockets: part(measures.sockets, socketsTable),
  reconnect: part(measures.reconnect, reconnectTable),
  'fan-out': part(measures.fanOut, fanOutTable),
  goals: part(measureGoals, goalsTable),
  soak: part(measures.soak, soakTable),
};
