import { type Bench, runMeasurement } from '../start/service.ts';
import { findSlowestSearch, measureHistory } from './history.ts';
import { measureNodes } from './nodes.ts';
import { comparePeers } from './peers.ts';
import { measureSending } from './sending.ts';

/** Full speed: enough requests in flight that no part waits for the generator. */
const maxLoad = { in_flight: 256, threads: 512 };
/** Number of stored messages at which the last page is read. */
const longHistorySize = 100_000;

/** Measures everything that has a goal, one after the other, each on its own installation; see docs/performance.md. */
export async function measureGoals(bench: Bench) {
  const sending = await runMeasurement(bench, measureSending);
  const busy = await runMeasurement(bench, (own) => measureSending(own, maxLoad));
  const streams = await runMeasurement(bench, (own) =>
    comparePeers(own, { servers: ['service'], measures: ['idle', 'thread'] }),
  );
  const [calls, posts] = streams.figures;
  const { members, sockets } = bench.options.streams;
  const nodes = await runMeasurement(bench, measureNodes);
  const { sizes, sends } = await runMeasurement(bench, measureHistory);
  const [first, last] = [sizes[0], sizes.at(-1)];
  const read = sizes.find(({ messages }) => messages >= longHistorySize) ?? last;
  const page = read?.timings.find(({ name }) => name === 'messages')?.alone;
  const search = findSlowestSearch(last?.timings ?? [])?.alone;
  const { delivery_ms: one, delivery_to_floor: relative } = sending;
  const goals = [
    atLeast([0.4], [sending.send_ratio], `POST message, ${sending.in_flight} in flight ÷ the same SQL alone`),
    atLeast([2_500], [busy.send_per_s], `messages/s stored and delivered, ${busy.in_flight} in flight`),
    atMost([2, 5], [one.p50, one.p99], `POST → socket at ${sending.steady_per_s}/s, p50 / p99 ms`),
    atMost(
      [1.2, 2.5],
      [relative.p50, relative.p95],
      'the same ÷ one GET /livez and one synced INSERT, p50 / p95',
    ),
    atMost(
      [8, 13],
      [posts?.group_ms.p50, posts?.group_ms.p99],
      `thread of ${members} sockets at 20/s, p50 / p99 ms to each`,
    ),
    atLeast([60_000], [posts?.group_frames_per_s], 'the same thread at full speed, frames/s'),
    atMost([10], [calls?.idle?.marginal_kb], `idle socket of ${sockets}, marginal KB`),
    atMost([4, 8], [page?.p50, page?.p95], `last 50 of ${read?.messages} messages, p50 / p95 ms`),
    atMost([25], [search?.p95], `slowest kind of search in ${last?.messages} messages, p95 ms`),
    atMost(
      [1.05],
      [sends?.cost_ratio],
      `cost of a message at ${last?.messages} ÷ at ${first?.messages} stored`,
    ),
    atMost(
      [1.15, 1.15],
      [nodes.without_affinity.cost_ratio, nodes.by_thread.cost_ratio],
      'CPU time of a message, two of each ÷ one, without affinity / a thread at one API',
    ),
  ];
  return { goals, failures: streams.failures };
}

type Figures = readonly (number | null | undefined)[];

/** A row of the table for a minimum: a goal and a figure for each value in the measure; null where the system does not report it. */
export const atLeast = (goal: readonly number[], figures: Figures, measure: string) =>
  judge(measure, { goal, figures, sign: '≥', isMet: (figure, bound) => figure >= bound });

/** A row of the table for a maximum. */
export const atMost = (goal: readonly number[], figures: Figures, measure: string) =>
  judge(measure, { goal, figures, sign: '≤', isMet: (figure, bound) => figure <= bound });

interface Judged {
  goal: readonly number[];
  figures: Figures;
  sign: string;
  isMet(figure: number, bound: number): boolean;
}

function judge(measure: string, { goal, figures, sign, isMet }: Judged) {
  const verdicts = goal.map((bound, at) => {
    const figure = figures[at];
    if (figure == null) return 'not available';
    return isMet(figure, bound) ? 'met' : 'MISSED';
  });
  const rounded = figures.map((figure) => (figure == null ? '–' : Math.round(figure * 1_000) / 1_000));
  return {
    measure,
    goal: `${sign} ${goal.join(' / ')}`,
    figures: rounded.join(' / '),
    result: new Set(verdicts).size === 1 ? verdicts[0] : verdicts.join(' / '),
  };
}
