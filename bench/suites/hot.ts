import { compareRates, measureInTurn } from '../load/in-turn.ts';
import { openSenders, type SendersOptions } from '../load/senders.ts';
import { createMembers, createPairs, createThreads, type Thread } from '../../scripts/parts/population.ts';
import { type Bench, startService } from '../start/service.ts';

/** In turn: sends in many threads, sends of many agents to one agent, and sends in one thread. */
export async function measureHot(bench: Bench) {
  const { seconds, threads: count, in_flight } = bench.options.sending;
  const service = await startService(bench);
  const { core } = service;
  const [receiver, ...others] = await createMembers(core, 'receiver', count + 1);
  const toOne = await createThreads(
    core,
    others.map((other) => (receiver ? [other, receiver] : [])),
  );
  const open = async (name: string, threads: readonly Thread[], who: SendersOptions['who'] = 'both') => {
    const senders = await openSenders(bench, service, threads, { who });
    return { senders, meter: senders.meter(name, in_flight) };
  };
  const loads = [
    await open(`${count} threads of two`, await createPairs(core, 'spread', count)),
    await open(`${count} agents to one`, toOne, 'first'),
    await open('one thread of two', await createPairs(core, 'thread', 1)),
  ];
  const measured = await measureInTurn(
    loads.map(({ meter }) => meter),
    { seconds, log: bench.log },
  );
  const rows = [];
  for (const [at, load] of measured.entries()) {
    rows.push({ ...load, ratio: compareRates(load, measured[0]), ...(await loads[at]?.senders.count()) });
  }
  return { in_flight, loads: rows };
}
