import { answerQuestions, openA2aCalls, type Pair } from '../load/a2a-calls.ts';
import { readCpuTime } from '../load/cpu-time.ts';
import { compareCost, compareRates, measureInTurn, type Meter, round } from '../load/in-turn.ts';
import { type LoadOptions, mapConcurrently, runLoad } from '../load/run-load.ts';
import { waitForQueues } from '../load/senders.ts';
import { createCounter } from '../load/tally.ts';
import { createMembers } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';

/** Questions, reads and answers through A2A (JSON-RPC), compared in turn with the same through REST. */
export async function measureA2a(bench: Bench) {
  const { options, log, signal } = bench;
  const { seconds, threads: count, in_flight } = options.sending;
  const { rate } = options.a2a;
  const service = await startService(bench);
  const pairs = await createPairPicker(service, count);
  const calls = openA2aCalls(bench, service);
  const nextNumber = createCounter();

  const meter = (name: string, load: Omit<LoadOptions, 'signal' | 'seconds'>, call: Call): Meter => ({
    name,
    readCpu: () => readCpuTime(service),
    warmUp_s: 'rate' in load ? 15 : 4,
    async run(duration) {
      const result = await runLoad({ ...load, seconds: duration, signal }, async () => {
        const number = nextNumber();
        await call(pairs.pick(number), number);
      });
      await waitForQueues(service, signal);
      return result;
    },
  });
  const lanes = { lanes: in_flight };
  const inTurn = { seconds, rounds: 3, log };
  const [ask, send] = await measureInTurn(
    [
      meter('ask', lanes, (pair, number) => calls.ask(pair, number, 0)),
      meter('SendMessage', lanes, (pair, number) => calls.sendMessage(pair, number, true)),
    ],
    inTurn,
  );
  log(`questions with an answer, ${rate} a second`);
  for (const agent of pairs.agents) await answerQuestions(bench, service, agent);
  // The statistics of a used database. Without them, every connection plans some hundred calls again when they first arrive.
  await service.core.database.query({ text: 'analyze' }, []);
  const [asked, answered] = await measureInTurn(
    [
      meter('ask, with the answer', { rate }, (pair, number) => calls.ask(pair, number, 20)),
      meter('SendMessage, until COMPLETED', { rate }, (pair, number) =>
        calls.sendMessage(pair, number, false),
      ),
    ],
    inTurn,
  );
  const tasks = await mapConcurrently(pairs.first, in_flight, signal, async (pair) => ({
    ...pair,
    ...(await calls.sendMessage(pair, nextNumber(), false)),
  }));
  const taskOf = (number: number) => itemAt(tasks, number);
  const [getThread, getOfRest, getTask] = await measureInTurn(
    [
      meter('GET /v1/threads/{id}', lanes, (_, number) => calls.getThread(taskOf(number))),
      meter('GET /v1/tasks/{id}', lanes, (_, number) => calls.getTaskOfRest(taskOf(number))),
      meter('GetTask', lanes, (_, number) => calls.getTask(taskOf(number))),
    ],
    inTurn,
  );
  return {
    in_flight,
    threads: count,
    steady_per_s: rate,
    loads: [ask, send, asked, answered, getThread, getOfRest, getTask],
    send_ratio: compareRates(send, ask),
    send_cost_ratio: compareCost(ask, send),
    answer_ratio: answered && asked && round(answered.ms.p50 / asked.ms.p50),
    get_ratio: compareRates(getTask, getThread),
    get_task_ratio: compareRates(getTask, getOfRest),
    get_cost_ratio: compareCost(getOfRest, getTask),
  };
}

type Call = (pair: Pair, number: number) => Promise<unknown>;

/** Successive questions go to different agents. A client can have 100 open tasks with one agent, so it asks another one each time. */
async function createPairPicker({ core }: Service, count: number) {
  const clients = await createMembers(core, 'a2a-client', count);
  const agents = await createMembers(core, 'a2a-agent', count);
  const pick = (number: number): Pair => ({
    client: itemAt(clients, number),
    agent: itemAt(agents, number + Math.floor(number / count)),
  });
  return { agents, pick, first: clients.map((_, number) => pick(number)) };
}

function itemAt<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('there are no agents');
  return item;
}
