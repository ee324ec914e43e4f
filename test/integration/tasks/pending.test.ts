import { expect, test } from 'vitest';
import { allTestScopes, type TestAgent, useSharedService } from '../../support/service.ts';
import { inboxOf } from '../inbox/setup.ts';
import { tasksOf } from './setup.ts';

const service = useSharedService();
const { pair, openTask, send } = tasksOf(service);

test('after 30 leased jobs and 10 questions that were answered, no agent waits', async () => {
  const [client, worker] = await pair();
  const inbox = inboxOf(service.api, worker);
  await inbox.turnOn();
  for (let job = 0; job < 30; job += 1) await openTask(client, worker, { content: `job ${job}` });
  for (let done = 0; done < 30;) {
    const leases = await inbox.leases({ max: 10 });
    for (const { id } of leases) await inbox.acknowledge(id, { reply: 'done' });
    done += leases.length;
  }
  for (let question = 0; question < 10; question += 1) {
    const asking = { with_handle: worker.handle, content: 'When?', wait_seconds: 0 };
    const { body } = await service.post(client, '/threads/ask', asking);
    await send(worker, body.message.thread_id, { content: 'Tomorrow.' });
    await send(client, body.message.thread_id, { content: 'Thanks.' });
  }
  const scopes = [...allTestScopes, 'conversations:read'] as const;
  const waits = async ({ handle }: TestAgent) => {
    const { body } = await service.get({ token: await service.token(handle, { scopes }) }, '/waits');
    return body.waits;
  };
  expect(await waits(client)).toEqual([]);
  expect(await waits(worker)).toEqual([]);
});
