import { expect, onTestFinished, test } from 'vitest';
import { runChaos } from '../../../chaos/run.ts';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import type { ServiceProcess } from '../../../scripts/parts/service-process.ts';
import { migrateForward } from '../../../src/platform/database/migrations.ts';
import { maintenanceTasks, type MaintenanceTask } from '../../../src/jobs/maintenance.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { createEmptyDatabase } from '../../support/servers/postgres/database.ts';
import { startDeployment } from '../support/deployment.ts';
import { runMaintenance } from '../support/maintenance.ts';
import { runFullExchange } from './full-exchange.ts';
import { buildPreviousRelease, missingReleaseReason } from './previous-release.ts';

const tasks = Object.keys(maintenanceTasks) as MaintenanceTask[];

describeUnless(missingReleaseReason, 'two releases on one database', () => {
  test('the new one on the old schema, both while it changes, the old one on the new schema', async () => {
    const before = await buildPreviousRelease();
    onTestFinished(() => before.remove());
    const database = await createEmptyDatabase();
    onTestFinished(() => database.drop());
    const apis: ServiceProcess[] = [];
    const balancer = await startTcpBalancer(() =>
      apis.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })),
    );
    onTestFinished(() => balancer.close());
    const house = await startDeployment(database, `http://127.0.0.1:${balancer.port}`);
    onTestFinished(() => house.stop());
    before.migrate(house.env);

    const [api, worker] = await Promise.all([house.start('api'), house.start('worker')]);
    apis.push(api);
    await runFullExchange(house, api.url);
    await runMaintenance(house, tasks);

    const { signal } = new AbortController();
    const { violations, history } = await runChaos(house, {
      async injectFaults() {
        await house.waitForMoreMessages(20);
        const old = await Promise.all(
          (['api', 'worker'] as const).map((part) => house.start(part, { program: before.program(part) })),
        );
        apis.push(...old.slice(0, 1));
        await house.waitForMoreMessages(40);
        const begun_at = Date.now();
        await migrateForward(database.url);
        const ended_at = Date.now();
        await house.waitForMoreMessages(40);
        apis.shift();
        await house.terminate(api, worker);
        await house.waitForMoreMessages(40);
        return [{ kind: 'schema changed', begun_at, ended_at }];
      },
      seed: 8,
      size: { agents: 5, threads: 4 },
      signal,
      log: () => undefined,
      complaints: [],
    });
    expect(violations).toEqual([]);
    expect(history.sends.length).toBeGreaterThan(140);

    await runFullExchange(house, apis[0]?.url ?? '');
    await runMaintenance(house, before.tasks);
    expect(await house.errors()).toEqual([]);
  });
});
