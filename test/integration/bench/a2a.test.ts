import { expect, test } from 'vitest';
import { answerQuestions, openA2aCalls } from '../../../bench/load/a2a-calls.ts';
import type { Options } from '../../../bench/options.ts';
import { runMeasurement } from '../../../bench/start/service.ts';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

test('the calls of `npm run bench -- a2a` are answered', async () => {
  const failures: Error[] = [];
  const { signal } = new AbortController();
  const fail = (reason: Error) => failures.push(reason);
  const parts = { options: {} as Options, log: () => undefined, signal, fail };
  await runMeasurement(parts, async (bench) => {
    const pair = { client: await service.agent(), agent: await service.agent() };
    const calls = openA2aCalls(bench, { base: service.url });
    await calls.ask(pair, 1, 0);
    await calls.sendMessage(pair, 2, true);
    await answerQuestions(bench, { base: service.url }, pair.agent);
    await calls.ask(pair, 3, 20);
    const task = { ...pair, ...(await calls.sendMessage(pair, 4, false)) };
    expect(await calls.getTask(task)).toContain('Tomorrow at nine.');
    expect(JSON.parse(await calls.getTaskOfRest(task))).toMatchObject({ id: task.task_id });
    const { body } = await service.get(pair.client, '/tasks');
    const states = body.tasks.map(({ state }: { state: string }) => state).toSorted();
    expect(states).toEqual(['completed', 'completed', 'submitted', 'submitted']);
  });
  expect(failures).toEqual([]);
});
