import { expect, test } from 'vitest';
import { packWakeups } from '../../../packages/core/src/domain/feed/wakeups.ts';
import type { Bus, BusMessage } from '../../../src/platform/bus/bus.ts';
import type { JobQueues } from '../../../src/platform/queues/job-queues.ts';
import type { CommitResult } from '../../../src/work/change-set.ts';
import { createPublisher } from '../../../src/work/publish.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';

test('answers and local streams come before the bus, and drain waits for the bus', async () => {
  const steps: string[] = [];
  const published: BusMessage[] = [];
  const publish = (messages: readonly BusMessage[]) => {
    published.push(...messages);
    steps.push('bus');
    return Promise.resolve();
  };
  const publisher = createPublisher({
    bus: { publish } as Bus,
    relay: { pack: () => [] },
    queues: {} as JobQueues,
    logger: createLogRecorder().logger,
  });
  publisher.onCommit(() => void setImmediate(() => steps.push('stream')));
  const positions = [{ agent_id: 'agt_1', last_number: 7 }];
  const nothing = { entries: [], events: [], jobs: [], messages: [], local_messages: [] };
  publisher.publish({ ...nothing, positions } satisfies CommitResult);
  await Promise.resolve();
  steps.push('answer');
  await publisher.drain();
  expect(steps).toEqual(['answer', 'stream', 'bus']);
  expect(published).toEqual(packWakeups(positions));
});
