import { beforeAll, expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { startWork } from '../inbox/setup.ts';

const service = useSharedService();
let env: Record<string, string>;
beforeAll(async () => {
  const { DATABASE_URL, SECRET_KEY } = service.core.config;
  env = { DATABASE_URL, SECRET_KEY };
});

test('an operator sees the counts and dead items of an inbox, and repeats them', async () => {
  const { worker, inbox, send, openThread } = await startWork(service, { max_attempts: 1 });
  for (const text of ['one', 'two']) await send(text, await openThread());
  for (const { id } of await inbox.leases({ max: 2, consumer: 'a' }))
    await inbox.release(id, { reason: 'x' });
  expect(await runCliJson(env, ['inbox', 'show', worker.handle])).toMatchObject({
    ready: 0,
    dead: 2,
    max_attempts: 1,
    consumers: [{ name: 'a' }],
  });
  const { items } = (await runCliJson(env, ['inbox', 'dead', `@${worker.handle}`])) as {
    items: { id: string; reasons: object[] }[];
  };
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ attempts: 1, type: 'message.created', reasons: [{ reason: 'x' }] });
  expect(JSON.stringify(items)).not.toContain('one');
  const [first] = items;
  expect(await runCliJson(env, ['inbox', 'redrive', worker.handle, String(first?.id)])).toEqual({
    redriven: 1,
  });
  expect(await runCliJson(env, ['inbox', 'redrive', worker.handle, '--all'])).toEqual({ redriven: 1 });
  expect(await inbox.leases({ max: 5 })).toHaveLength(2);
});

test('wrong commands are refused', async () => {
  const { handle } = await service.agent();
  expect((await runCli(env, ['inbox', 'show', handle])).err).toMatch(/inbox of this agent is off/);
  expect((await runCli(env, ['inbox', 'redrive', handle])).err).toMatch(/either an item_id or --all/);
  const { worker } = await startWork(service);
  const missing = await runCli(env, ['inbox', 'redrive', worker.handle, 'evt_x']);
  expect(missing.err).toMatch(/no such dead item/);
});
