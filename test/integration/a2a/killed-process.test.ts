import { expect, test } from 'vitest';
import { a2aAddress, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { buildAgent } from '../../support/service.ts';

test('a message that is sent 20 times to two processes, one of which is killed, is one task', async () => {
  const cluster = await startTestCluster('postgres');
  const [doomed, other] = await Promise.all([cluster.startApi(), cluster.startApi()]);
  const [ann, bob] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
  const clientOf = (url: string) => createA2aClient('JSONRPC', a2aAddress(url, bob.handle), ann.token);
  const message = toA2aMessage('Once');
  const send = (url: string) =>
    clientOf(url).call('SendMessage', { message, configuration: { returnImmediately: true } });

  const sends = Array.from({ length: 20 }, (_, index) => send(index % 2 === 0 ? doomed.url : other.url));
  await Promise.race(sends);
  await doomed.kill9();
  const settled = await Promise.allSettled(sends);
  const ids = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.result.task.id] : []));
  expect(ids.length).toBeGreaterThanOrEqual(10);
  expect(new Set(ids).size).toBe(1);
  const rows = await cluster.core.database.query<{ messages: number; tasks: number }>(
    {
      text: 'select (select count(*)::int from messages) as messages, (select count(*)::int from tasks) as tasks',
    },
    [],
  );
  expect(rows).toEqual([{ messages: 1, tasks: 1 }]);
  const { messageId } = message;
  const changed = {
    message: toA2aMessage('Twice', { messageId }),
    configuration: { returnImmediately: true },
  };
  expect(reasonOf(await clientOf(other.url).call('SendMessage', changed))).toBe('IDEMPOTENCY_MISMATCH');
});
