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

/** In the previous release, a send moved the read mark of its sender over the messages of others too. */
const changedSince: ReadonlySet<string> = new Set(['wrong receipt', 'wrong unread count']);

const tasks = Object.keys(maintenanceTasks) as MaintenanceTask[];

describeUnless(missingReleaseReason, 'two releases on one database', () => {
  test('the new one on the old schema, both during the migration, the old one on the new schema', async () => {
    const before = await buildPreviousRelease();
    onTestFinished(() => before.remove());
    const database = await createEmptyDatabase();
    onTestFinished(() => database.drop());
    const apis: ServiceProcess[] = [];
    const balancer = await startTcpBalancer(() =>
      apis.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })),
    );
    onTestFinished(() => balancer.close());
    const deployment = await startDeployment(database, `http://127.0.0.1:${balancer.port}`);
    onTestFinished(() => deployment.stop());
    before.migrate(deployment.env);

    const [api, worker] = await Promise.all([deployment.start('api'), deployment.start('worker')]);
    apis.push(api);
    await runFullExchange(deployment, api.url);
    await runMaintenance(deployment, tasks);

    const { signal } = new AbortController();
    const { violations, history } = await runChaos(deployment, {
      async injectFaults() {
        await deployment.waitForMoreMessages(20);
        const old = await Promise.all(
          (['api', 'worker'] as const).map((part) =>
            deployment.start(part, { program: before.program(part) }),
          ),
        );
        apis.push(...old.slice(0, 1));
        await deployment.waitForMoreMessages(40);
        const begun_at = Date.now();
        await migrateForward(database.url);
        const ended_at = Date.now();
        await deployment.waitForMoreMessages(40);
        apis.shift();
        await deployment.terminate(api, worker);
        await deployment.waitForMoreMessages(40);
        return [{ kind: 'schema changed', begun_at, ended_at }];
      },
      seed: 8,
      size: { agents: 5, threads: 4 },
      signal,
      log: () => undefined,
      complaints: [],
    });
    expect(violations.filter(({ kind }) => !changedSince.has(kind))).toEqual([]);
    expect(history.sends.length).toBeGreaterThan(140);

    await runFullExchange(deployment, apis[0]?.url ?? '');
    await runMaintenance(deployment, before.tasks);
    expect(await deployment.errors()).toEqual([]);
  });
});
