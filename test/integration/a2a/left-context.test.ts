import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { a2aAddress, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { useService } from '../../support/service.ts';

const service = useService();
const now = { configuration: { returnImmediately: true } };

/** Called when the statement that finds the context of a message has its result, before the next statement. */
let onPlaced: (() => Promise<unknown>) | undefined;

const nameOf = (statement: pg.QueryConfig | string): string =>
  typeof statement === 'string' ? '' : (statement.name ?? '');

beforeEach(() => {
  const { query } = pg.Client.prototype;
  function pause(this: pg.Client, statement: pg.QueryConfig | string, ...rest: unknown[]): unknown {
    const result: unknown = Reflect.apply(query, this, [statement, ...rest]);
    const pending = nameOf(statement).startsWith('a2a_messages.list_places') ? onPlaced : undefined;
    if (!pending) return result;
    onPlaced = undefined;
    return Promise.resolve(result).then(async (rows) => {
      await pending();
      return rows;
    });
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(pause);
});
afterEach(() => void vi.restoreAllMocks());

test('an agent that leaves a context while a message is sent there does not get it', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const client = createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), ann.token);
  const { task } = (await client.call('SendMessage', { message: toA2aMessage('First'), ...now })).result;
  const { contextId } = task;
  const member = `/threads/${contextId}/members/${bob.id}`;
  const leave = vi.fn(async () => expect(await service.delete(bob, member)).toMatchObject({ status: 204 }));
  onPlaced = leave;
  const refused = await client.call('SendMessage', { message: toA2aMessage('Late', { contextId }), ...now });
  expect(leave).toHaveBeenCalledOnce();
  expect(reasonOf(refused)).toBe('VALIDATION_ERROR');
  expect((await service.get(ann, `/threads/${contextId}/messages`)).body.messages).toHaveLength(1);
  expect((await service.get(bob, '/tasks?state=open')).body.tasks).toEqual([]);
});
