import { compareCost, compareRates, measureInTurn } from '../load/in-turn.ts';
import { openSenders } from '../load/senders.ts';
import { createPairs } from '../../scripts/parts/population.ts';
import { type Bench, startService } from '../start/service.ts';

const batchSizes = [1, 10, 100];
const batchesInFlight = 8;

/** Batches of 1, 10 and 100 messages and single sends in turn, each message delivered to two sockets and indexed. */
export async function measureBatches(bench: Bench) {
  const { seconds, threads, in_flight } = bench.options.sending;
  const service = await startService(bench);
  const senders = await openSenders(bench, service, await createPairs(service.core, 'batches', threads));
  const loads = await measureInTurn(
    [
      senders.meter('single sends', in_flight),
      ...batchSizes.map((batchSize) =>
        senders.meter(`batches of ${batchSize}`, batchesInFlight, { batchSize }),
      ),
    ],
    { seconds, log: bench.log },
  );
  const [singles, batches] = [loads[0], loads.at(-1)];
  const ratio = compareRates(batches, singles);
  const cost_ratio = compareCost(singles, batches);
  return {
    loads,
    ratio,
    cost_ratio,
    in_flight,
    batches_in_flight: batchesInFlight,
    ...(await senders.count()),
  };
}
