import { expect, test, vi } from 'vitest';
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
import { stopAfterTest } from '../../support/use.ts';

// The previous release is installed and built first.
vi.setConfig({ testTimeout: 400_000 });

const tasks = Object.keys(maintenanceTasks) as MaintenanceTask[];

describeUnless(missingReleaseReason, 'two releases on one database', () => {
  test('the old release works before, during and after the migration, beside the new one, and alone again', async () => {
    const before = stopAfterTest(await buildPreviousRelease());
    const database = stopAfterTest(await createEmptyDatabase());
    const apis: ServiceProcess[] = [];
    const balancer = stopAfterTest(
      await startTcpBalancer(() =>
        apis.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })),
      ),
    );
    const deployment = stopAfterTest(await startDeployment(database, `http://127.0.0.1:${balancer.port}`));
    before.migrate(deployment.env);

    const start = async (program?: typeof before.program) =>
      Promise.all(
        (['api', 'worker'] as const).map((part) =>
          deployment.start(part, program && { program: program(part) }),
        ),
      );
    const old = await start(before.program);
    apis.push(...old.slice(0, 1));
    const useOld = () => runFullExchange(deployment, apis[0]?.url ?? '', before);
    await useOld();
    await Promise.all([migrateForward(database.url), useOld()]);

    const { signal } = new AbortController();
    const { violations, history } = await runChaos(deployment, {
      async injectFaults() {
        await deployment.waitForMoreMessages(20);
        const begun_at = Date.now();
        const current = await start();
        apis.push(...current.slice(0, 1));
        await deployment.waitForMoreMessages(40);
        apis.shift();
        await deployment.terminate(...old);
        await deployment.waitForMoreMessages(40);
        await runFullExchange(deployment, apis[0]?.url ?? '');
        await runMaintenance(deployment, tasks);
        // The way back.
        apis.push(...(await start(before.program)).slice(0, 1));
        await deployment.waitForMoreMessages(40);
        apis.shift();
        await deployment.terminate(...current);
        await deployment.waitForMoreMessages(20);
        return [{ kind: 'release changed', begun_at, ended_at: Date.now() }];
      },
      seed: 8,
      size: { agents: 5, threads: 4 },
      signal,
      log: () => undefined,
      complaints: [],
    });
    expect(violations).toEqual([]);
    expect(history.sends.length).toBeGreaterThan(140);

    await useOld();
    await runMaintenance(deployment, tasks);
    expect(await deployment.errors()).toEqual([]);
  });
});
