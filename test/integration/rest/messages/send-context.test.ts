import { outcomeOf } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { useService } from '../../../support/service.ts';
import { createAgent, openThread, type TwoProcesses } from './warm-threads.ts';

const service = useService({ worker: false, env: { LOG_LEVEL: 'silent', SEND_CONTEXT: 'compare' } });

async function countDifferences(): Promise<number> {
  const { values } = await service.core.metrics.sendThreads.get();
  return values.find(({ labels }) => labels.outcome === 'different')?.value ?? 0;
}

test('compare finds a change of relations that raised no version, and goes by what it read', async () => {
  const process: Pick<TwoProcesses, 'service' | 'apis'> = { service, apis: [service.api, service.api] };
  const [ann, bob] = [await createAgent(process), await createAgent(process)];
  const thread = await openThread(process, [ann, bob]);
  await thread.warmUp([ann, bob]);
  expect(await countDifferences()).toBe(0);
  const pause = (isPaused: boolean) =>
    service.sql('update agents set paused = $1 where id = $2', [isPaused, bob.id]);
  await pause(true);
  expect(outcomeOf(await thread.send(ann))).toBe('503 AGENT_PAUSED');
  expect(await countDifferences()).toBe(1);
  await pause(false);
  expect((await thread.send(ann)).status).toBe(201);
  service.core.metrics.sendThreads.reset(); // no test may leave differences
});
