import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { type Cost, type CostOptions, costOfSending, ofService } from './cost.ts';
import { createThreads } from './population.ts';
import type { Environment } from './environment.ts';

/** Measures repeatedly what sending costs one installation. */
export interface CostMeter {
  measure(seconds: number): Promise<Cost>;
  close(): Promise<void>;
}

export interface CostMeterOptions extends Omit<CostOptions, 'threads' | 'seconds'> {
  /** Prefix of the names of the senders' owners. */
  owner: string;
  threads: number;
}

export async function openCostMeter(environment: Environment, options: CostMeterOptions): Promise<CostMeter> {
  const { owner, threads: count, ...sending } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const threads = await createThreads(core, owner, count);
  return {
    measure: (seconds) => costOfSending(environment, core, { ...sending, threads, seconds }),
    close: () => core.close(),
  };
}

export interface CostComparison {
  first: Cost[];
  second: Cost[];
  /** CPU time of the service per message of the second, divided by that of the first; null where the system does not report it. */
  cost_ratio: number | null;
}

const rounds = 3;
const defaultWarmUpSeconds = [4, 4] as const;

/**
 * Measures two installations alternately, in three rounds, so that other load on the machine affects both. Both are warmed up equally
 * first: a new process still compiles its code.
 */
export async function compareInTurn(
  [one, two]: readonly [Pick<CostMeter, 'measure'>, Pick<CostMeter, 'measure'>],
  parts: { seconds: number; warmUp_s?: readonly [number, number]; log: (line: string) => void },
): Promise<CostComparison> {
  const { seconds, warmUp_s = defaultWarmUpSeconds, log } = parts;
  log('warming up');
  await one.measure(warmUp_s[0]);
  await two.measure(warmUp_s[1]);
  const [first, second]: [Cost[], Cost[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    first.push(await one.measure(seconds));
    second.push(await two.measure(seconds));
    log(`round ${round}: ${first.at(-1)?.per_s} and ${second.at(-1)?.per_s} messages/s`);
  }
  const [of_one, of_two] = [averageCost(first), averageCost(second)];
  return { first, second, cost_ratio: of_one === null || of_two === null ? null : of_two / of_one };
}

function averageCost(costs: readonly Cost[]): number | null {
  const measured = costs.flatMap(({ cpu }) => (cpu ? [ofService(cpu)] : []));
  return measured.length === 0 ? null : measured.reduce((total, each) => total + each, 0) / measured.length;
}

/** Formats the figures as text. */
export function formatComparison(
  { first, second, cost_ratio }: CostComparison,
  [one, two]: readonly [string, string],
): string {
  const width = Math.max(one.length, two.length);
  const line = (name: string, { per_s, cpu }: Cost) => {
    const parts = cpu ? Object.entries(cpu).map(([part, ms]) => `${part} ${ms}`) : ['not available'];
    return `${name.padEnd(width)}  ${String(per_s).padStart(5)} messages/s, CPU ms for each message: ${parts.join(', ')}\n`;
  };
  const lines = first.flatMap((cost, round) => {
    const other = second[round];
    return [line(one, cost), ...(other ? [line(two, other)] : [])];
  });
  const ratio = cost_ratio === null ? 'not available' : cost_ratio.toFixed(3);
  return `${lines.join('')}CPU time of a message, ${two} ÷ ${one}: ${ratio}\n`;
}
