import { expect, test } from 'vitest';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { useService } from '../../support/service.ts';

const connections = 2;
const rounds = 40;

const service = useService({ env: { DATABASE_POOL_SIZE: String(connections) } });

/** Statements that a connection plans for each call. */
async function listReplanned(): Promise<string[]> {
  const read = () =>
    service.sql<{ name: string }>(
      'select name from pg_prepared_statements where custom_plans > 15 and generic_plans = 0',
    );
  // At the same time, so that each connection answers.
  const lists = await Promise.all(Array.from({ length: 4 * connections }, read));
  return [...new Set(lists.flat().map(({ name }) => name))].toSorted((one, other) =>
    one.localeCompare(other),
  );
}

test('statements of messages and tasks keep one plan', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const client = createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), ann.token);
  for (let round = 0; round < rounds; round += 1) {
    const configuration = { returnImmediately: true };
    const { result } = await client.call('SendMessage', { message: toA2aMessage('When?'), configuration });
    const { id, contextId } = result.task;
    await service.post(bob, `/threads/${contextId}/messages`, { content: 'Tomorrow.' });
    await service.post(ann, `/threads/${contextId}/messages`, { content: 'Thanks.' });
    await client.call('GetTask', { id });
    await service.get(bob, `/threads/${contextId}/messages`);
    await service.get(bob, '/events?limit=5');
  }
  expect(await listReplanned()).toEqual([]);
});
