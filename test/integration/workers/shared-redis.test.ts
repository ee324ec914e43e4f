import { expect, onTestFinished, test, vi } from 'vitest';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { startInstanceGuard } from '../../../src/start/instance-guard.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startService, createTestSettings } from '../../support/service.ts';
import { runCli } from '../../clients/cli.ts';
import { stopAfterTest } from '../../support/use.ts';

await describeWithRedis('two instances on one Redis', () => {
  test('are distinguished: neither starts under the prefix of the other, and doctor reports why', async () => {
    const first = stopAfterTest(await startService({ backend: 'redis' }));
    const { REDIS_URL = '' } = first.core.config;
    const settings = await createTestSettings('postgres');
    const env = { ...settings.env, REDIS_URL, LOG_LEVEL: 'silent' };
    const second = compose(loadConfig(env), 'test');
    onTestFinished(async () => {
      await second.close();
      await settings.release();
    });

    const named = new RegExp(`^REDIS_PREFIX: another instance, with the database ${databaseOf(first)} `);
    await expect(startInstanceGuard(second)).rejects.toThrow(named);
    const { out } = await runCli(env, ['doctor']);
    expect(out).toMatch(/^FAIL +prefix .*another instance/m);
    // A refused start blocks neither the running instance nor another process of it.
    expect((await runCli({ ...settings.env, ...envOf(first) }, ['doctor'])).out).toMatch(/^ok +prefix /m);
    (await startInstanceGuard(first.core))();

    const elsewhere = stopAfterTest(compose(loadConfig({ ...env, REDIS_PREFIX: 'other' }), 'test'));
    (await startInstanceGuard(elsewhere))();
  });

  test('do not receive the messages of each other in two databases of it', async () => {
    const first = stopAfterTest(await startService({ backend: 'redis' }));
    const settings = await createTestSettings('postgres');
    onTestFinished(() => settings.release());
    const env = { ...settings.env, REDIS_URL: `${first.core.config.REDIS_URL}/1` };
    const second = stopAfterTest(await startService({ settings: { ...settings, env } }));
    const received: string[] = [];
    second.core.bus.subscribe('test', (body) => received.push(body));
    await first.core.bus.publish([{ topic: 'test', body: 'of the first' }]);
    await second.core.bus.publish([{ topic: 'test', body: 'of the second' }]);
    await vi.waitFor(() => expect(received).toContain('of the second'));
    expect(received).toEqual(['of the second']);
  });

  test('a process with another SECRET_KEY is told that, under any prefix', async () => {
    const first = stopAfterTest(await startService({ backend: 'redis' }));
    const other = { ...envOf(first), SECRET_KEY: 'fedcba9876543210'.repeat(2), LOG_LEVEL: 'silent' };
    for (const REDIS_PREFIX of [first.core.config.REDIS_PREFIX, 'other']) {
      const env = { ...other, REDIS_PREFIX };
      const core = stopAfterTest(compose(loadConfig(env), 'test'));
      await expect(startInstanceGuard(core)).rejects.toThrow(/^SECRET_KEY: differs .*; set that one, /);
      const { out } = await runCli(env, ['doctor']);
      expect(out).toMatch(/^FAIL +secret +SECRET_KEY: differs /m);
      expect(out).toMatch(/^not checked +prefix +needs secret/m);
    }
  });

  test('that start at the same time are logged', async () => {
    const settings = await createTestSettings('redis');
    const core = compose(loadConfig({ ...settings.env, LOG_LEVEL: 'silent' }), 'test');
    onTestFinished(async () => {
      await core.close();
      await settings.release();
    });
    const error = vi.spyOn(core.logger, 'error');
    const leave = await startInstanceGuard(core, 20);
    onTestFinished(leave);
    await core.queues.instances('another (0)');
    await vi.waitFor(() => expect(error).toHaveBeenCalled(), { timeout: 20_000, interval: 10 });
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { others: ['another (0)'] },
      expect.stringMatching(
        /^REDIS_PREFIX: another instance, with the database another \(0\), uses the prefix ams /,
      ),
    );
  });
});

const databaseOf = ({ core }: { core: { config: { DATABASE_URL: string } } }) =>
  new URL(core.config.DATABASE_URL).pathname.slice(1);

const envOf = ({ core: { config } }: Awaited<ReturnType<typeof startService>>) => ({
  DATABASE_URL: config.DATABASE_URL,
  SECRET_KEY: config.SECRET_KEY,
  REDIS_URL: config.REDIS_URL ?? '',
});
