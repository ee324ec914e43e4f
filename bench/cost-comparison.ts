import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { type Cost, type CostOptions, costOfSending, ofService } from './cost.ts';
import { createThreads } from './population.ts';
import type { Environment } from './environment.ts';

/** Measures what sending costs one installation, time and again. */
export interface CostMeter {
  measure(seconds: number): Promise<Cost>;
  close(): Promise<void>;
}

export interface CostMeterOptions extends Omit<CostOptions, 'threads' | 'seconds'> {
  /** Begins the names of the owners of those who send. */
  owner: string;
  threads: number;
}

export async function openCostMeter(stage: Environment, options: CostMeterOptions): Promise<CostMeter> {
  const { owner, threads: count, ...sending } = options;
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  const threads = await createThreads(core, owner, count);
  return {
    measure: (seconds) => costOfSending(stage, core, { ...sending, threads, seconds }),
    close: () => core.close(),
  };
}

export interface CostComparison {
  first: Cost[];
  second: Cost[];
  /** CPU time of the service for a message of the second, divided by that of the first; null where it is not told. */
  cost_ratio: number | null;
}

const rounds = 3;
const defaultWarmUpSeconds = [4, 4] as const;

/**
 * Two installations in turn, in three rounds: what else goes on at the machine concerns both, and all processes have done as much before
 * they are measured. A young one still compiles its code.
 */
export async function compareInTurn(
  [one, two]: readonly [CostMeter, CostMeter],
  parts: { seconds: number; warmUp_s?: readonly [number, number]; say: (line: string) => void },
): Promise<CostComparison> {
  const { seconds, warmUp_s = defaultWarmUpSeconds, say } = parts;
  say('warming up');
  await one.measure(warmUp_s[0]);
  await two.measure(warmUp_s[1]);
  const [first, second]: [Cost[], Cost[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    first.push(await one.measure(seconds));
    second.push(await two.measure(seconds));
    say(`round ${round}: ${first.at(-1)?.per_s} and ${second.at(-1)?.per_s} messages/s`);
  }
  const [of_one, of_two] = [averageCost(first), averageCost(second)];
  return { first, second, cost_ratio: of_one === null || of_two === null ? null : of_two / of_one };
}

function averageCost(costs: readonly Cost[]): number | null {
  const known = costs.flatMap(({ cpu }) => (cpu ? [ofService(cpu)] : []));
  return known.length === 0 ? null : known.reduce((total, each) => total + each, 0) / known.length;
}

/** The figures for people. */
export function formatComparison(
  { first, second, cost_ratio }: CostComparison,
  [one, two]: readonly [string, string],
): string {
  const width = Math.max(one.length, two.length);
  const line = (name: string, { per_s, cpu }: Cost) => {
    const parts = cpu ? Object.entries(cpu).map(([part, ms]) => `${part} ${ms}`) : ['not told here'];
    return `${name.padEnd(width)}  ${String(per_s).padStart(5)} messages/s, CPU ms for each message: ${parts.join(', ')}\n`;
  };
  const lines = first.flatMap((cost, round) => {
    const other = second[round];
    return [line(one, cost), ...(other ? [line(two, other)] : [])];
  });
  const ratio = cost_ratio === null ? 'not told here' : cost_ratio.toFixed(3);
  return `${lines.join('')}CPU time of a message, ${two} ÷ ${one}: ${ratio}\n`;
}
