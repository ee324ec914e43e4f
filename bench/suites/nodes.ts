import { combineCpuTimes, readCpuTime } from '../load/cpu-time.ts';
import { compareCost, measureInTurn, type Meter } from '../load/in-turn.ts';
import { openSenders, type SendersOptions } from '../load/senders.ts';
import { createPairs } from '../../scripts/parts/population.ts';
import { addProcesses, type Bench, type Service, startService } from '../start/service.ts';

/** With one process of each kind, and with two. */
const warmUpSeconds = [4, 8] as const;

/**
 * The cost of a message with one API and one worker process, compared with two of each behind two kinds of balancer, and with two separate
 * installations. With two APIs, half of the sends reach a process that does not hold the sockets of the thread.
 */
export async function measureNodes(bench: Bench) {
  const { seconds, threads: count, in_flight } = bench.options.sending;
  const open = async (
    name: string,
    service: Service,
    lanes: number,
    more: SendersOptions = {},
  ): Promise<Meter> => {
    const threads = await createPairs(service.core, name.replaceAll(/\W+/g, '-'), count);
    const senders = await openSenders(bench, service, threads, more);
    return senders.meter(name, lanes, { warmUp_s: warmUpSeconds[more.bases ? 1 : 0] });
  };
  const service = await startService(bench);
  const single = await open('one of each', service, in_flight);
  const other = await startService(bench);
  const half = Math.ceil(in_flight / 2);
  const halves = [await open('first half', service, half), await open('second half', other, half)] as const;
  const compare = async (second: Meter) => {
    const options = { seconds: 3 * seconds, rounds: 3, lead_s: 2, log: bench.log };
    const loads = await measureInTurn([single, second], options);
    return { cost_ratio: compareCost(loads[0], loads[1]), loads };
  };
  const separate = await compare(joinMeters('two installations', halves, [service, other]));
  const { base, ...pids } = await addProcesses(bench, other);
  const double = { ...other, pids };
  const bases = [other.base, base];
  const without_affinity = await compare(await open('without affinity', double, in_flight, { bases }));
  const by_thread = await compare(await open('by thread', double, in_flight, { bases, byThread: true }));
  return { without_affinity, by_thread, separate };
}

/** Two loads at the same time, as if they were one. */
function joinMeters(
  name: string,
  [one, two]: readonly [Meter, Meter],
  services: readonly [Service, Service],
): Meter {
  return {
    name,
    warmUp_s: warmUpSeconds[1],
    // The generator of both loads is one process.
    readCpu: () =>
      combineCpuTimes(readCpuTime(services[0]), readCpuTime(services[1]), (first, second, part) =>
        part === 'generator' ? first : first + second,
      ),
    async run(seconds) {
      const [first, second] = await Promise.all([one.run(seconds), two.run(seconds)]);
      return {
        count: first.count + second.count,
        seconds: Math.max(first.seconds, second.seconds),
        ms: [...first.ms, ...second.ms],
      };
    },
  };
}
