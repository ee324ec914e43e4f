import { findSlowestSearch } from './history/report.ts';
import { type Bench, measurements } from './measurements.ts';

/** A performance goal on 2 processors shared with the load generator, and the measured figures. */
export interface Goal {
  measure: string;
  /** One value per figure, in the unit of `measure`. */
  goal: readonly number[];
  /** Null where the system does not report them. */
  figures: readonly number[] | null;
  /** Whether the goal is a minimum. */
  at_least: boolean;
}

/** Full speed: enough requests in flight that no part waits for the generator. */
const maxLoad = { in_flight: 256, threads: 512 };
/** Number of stored messages at which the last page is read. */
const longHistorySize = 100_000;

/** Measures everything that has a goal, one after the other, each on its own installation; see docs/performance.md. */
export async function measureGoals(bench: Bench): Promise<{ goals: Goal[] }> {
  const sending = await measurements.sending(bench);
  const busy = await measurements.sending(bench, maxLoad);
  const fanOut = await measurements.fanOut(bench);
  const sockets = await measurements.sockets(bench);
  const nodes = await measurements.nodes(bench);
  const history = await measurements.history(bench);
  const { sizes, sends } = history;
  const [first, last] = [sizes[0], sizes.at(-1)];
  const nodeRatios = [nodes.without_affinity.cost_ratio, nodes.by_thread.cost_ratio];
  const read = sizes.find(({ messages }) => messages >= longHistorySize) ?? last;
  const page = read?.timings.find(({ name }) => name === 'messages')?.alone;
  const search = findSlowestSearch(last?.timings ?? [])?.alone;
  const { delivery_ms: one } = sending;
  const { delivery_ms: each, frames_per_s } = fanOut;
  return {
    goals: [
      minGoal(
        `POST message, ${sending.in_flight} in flight ÷ the same SQL alone`,
        [0.4],
        [sending.send_ratio],
      ),
      minGoal(`messages/s stored and delivered, ${busy.in_flight} in flight`, [2_500], [busy.send_per_s]),
      maxGoal(`POST → socket at ${sending.steady_per_s}/s, p50 / p99 ms`, [2, 5], [one.p50, one.p99]),
      maxGoal(
        `thread of ${fanOut.members} sockets at ${fanOut.rate}/s, p50 / p99 ms to each`,
        [8, 13],
        [each.p50, each.p99],
      ),
      minGoal('the same thread at full speed, frames/s', [60_000], [frames_per_s]),
      maxGoal(`idle socket of ${sockets.sockets}, marginal KB`, [10], [sockets.service.marginal_kb]),
      maxGoal(
        `last 50 of ${read?.messages} messages, p50 / p95 ms`,
        [4, 8],
        page ? [page.p50, page.p95] : null,
      ),
      maxGoal(
        `slowest kind of search in ${last?.messages} messages, p95 ms`,
        [25],
        search ? [search.p95] : null,
      ),
      maxGoal(
        `cost of a message at ${last?.messages} ÷ at ${first?.messages} stored`,
        [1.05],
        sends?.cost_ratio == null ? null : [sends.cost_ratio],
      ),
      maxGoal(
        'CPU time of a message, two of each ÷ one, without affinity / a thread at one API',
        [1.15, 1.15],
        nodeRatios.some((ratio) => ratio === null) ? null : nodeRatios.map(Number),
      ),
    ],
  };
}

const minGoal = (measure: string, goal: readonly number[], figures: readonly number[] | null): Goal => {
  return { measure, goal, figures, at_least: true };
};
const maxGoal = (measure: string, goal: readonly number[], figures: readonly number[] | null): Goal => {
  return { measure, goal, figures, at_least: false };
};

/** Whether each figure reaches its goal. */
export function isGoalMet({ goal, figures, at_least }: Goal): boolean[] {
  return goal.map((bound, at) => {
    const figure = figures?.[at];
    return figure !== undefined && (at_least ? figure >= bound : figure <= bound);
  });
}

function formatVerdict(met: readonly boolean[]): string {
  return met.every(Boolean) ? 'met' : met.map((each) => (each ? 'met' : 'MISSED')).join(' / ');
}

/** Formats the figures as text. */
export function formatGoals({ goals }: { goals: readonly Goal[] }): string {
  const rows = goals.map((goal) => {
    return [
      goal.measure,
      `${goal.at_least ? '≥' : '≤'} ${goal.goal.join(' / ')}`,
      goal.figures?.map((figure) => Math.round(figure * 1_000) / 1_000).join(' / ') ?? 'not available',
      goal.figures === null ? '–' : formatVerdict(isGoalMet(goal)),
    ];
  });
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`).join('');
}
