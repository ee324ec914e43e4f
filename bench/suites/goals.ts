import { type Bench, runMeasurement } from '../start/service.ts';
import { measureFanOut } from './fan-out.ts';
import { findSlowestSearch, measureHistory } from './history.ts';
import { measureNodes } from './nodes.ts';
import { measureSending } from './sending.ts';
import { measureSockets } from './sockets.ts';

/** A performance goal on 2 processors shared with the load generator, and the measured figures. */
export interface Goal {
  measure: string;
  /** One value per figure, in the unit of `measure`. */
  goal: readonly number[];
  /** Null where the system does not report them. */
  figures: readonly (number | null | undefined)[];
  /** Whether the goal is a minimum. */
  at_least?: boolean;
}

/** Full speed: enough requests in flight that no part waits for the generator. */
const maxLoad = { in_flight: 256, threads: 512 };
/** Number of stored messages at which the last page is read. */
const longHistorySize = 100_000;

/** Measures everything that has a goal, one after the other, each on its own installation; see docs/performance.md. */
export async function measureGoals(bench: Bench) {
  const sending = await runMeasurement(bench, measureSending);
  const busy = await runMeasurement(bench, (own) => measureSending(own, maxLoad));
  const fanOut = await runMeasurement(bench, measureFanOut);
  const sockets = await runMeasurement(bench, measureSockets);
  const nodes = await runMeasurement(bench, measureNodes);
  const { sizes, sends } = await runMeasurement(bench, measureHistory);
  const [first, last] = [sizes[0], sizes.at(-1)];
  const read = sizes.find(({ messages }) => messages >= longHistorySize) ?? last;
  const page = read?.timings.find(({ name }) => name === 'messages')?.alone;
  const search = findSlowestSearch(last?.timings ?? [])?.alone;
  const { delivery_ms: one } = sending;
  const { delivery_ms: each, frames_per_s } = fanOut;
  const goals: Goal[] = [
    {
      measure: `POST message, ${sending.in_flight} in flight ÷ the same SQL alone`,
      goal: [0.4],
      figures: [sending.send_ratio],
      at_least: true,
    },
    {
      measure: `messages/s stored and delivered, ${busy.in_flight} in flight`,
      goal: [2_500],
      figures: [busy.send_per_s],
      at_least: true,
    },
    {
      measure: `POST → socket at ${sending.steady_per_s}/s, p50 / p99 ms`,
      goal: [2, 5],
      figures: [one.p50, one.p99],
    },
    {
      measure: `thread of ${fanOut.members} sockets at ${fanOut.rate}/s, p50 / p99 ms to each`,
      goal: [8, 13],
      figures: [each.p50, each.p99],
    },
    {
      measure: 'the same thread at full speed, frames/s',
      goal: [60_000],
      figures: [frames_per_s],
      at_least: true,
    },
    {
      measure: `idle socket of ${sockets.sockets}, marginal KB`,
      goal: [10],
      figures: [sockets.service.marginal_kb],
    },
    {
      measure: `last 50 of ${read?.messages} messages, p50 / p95 ms`,
      goal: [4, 8],
      figures: [page?.p50, page?.p95],
    },
    {
      measure: `slowest kind of search in ${last?.messages} messages, p95 ms`,
      goal: [25],
      figures: [search?.p95],
    },
    {
      measure: `cost of a message at ${last?.messages} ÷ at ${first?.messages} stored`,
      goal: [1.05],
      figures: [sends?.cost_ratio],
    },
    {
      measure: 'CPU time of a message, two of each ÷ one, without affinity / a thread at one API',
      goal: [1.15, 1.15],
      figures: [nodes.without_affinity.cost_ratio, nodes.by_thread.cost_ratio],
    },
  ];
  return { goals: goals.map(judgeGoal) };
}

/** A row of the table: the goal, its figures, and whether each of them reaches it. */
export function judgeGoal({ measure, goal, figures, at_least }: Goal) {
  const verdicts = goal.map((bound, at) => {
    const figure = figures[at];
    if (figure == null) return 'not available';
    return (at_least ? figure >= bound : figure <= bound) ? 'met' : 'MISSED';
  });
  const rounded = figures.map((figure) => (figure == null ? '–' : Math.round(figure * 1_000) / 1_000));
  return {
    measure,
    goal: `${at_least ? '≥' : '≤'} ${goal.join(' / ')}`,
    figures: rounded.join(' / '),
    result: new Set(verdicts).size === 1 ? verdicts[0] : verdicts.join(' / '),
  };
}
