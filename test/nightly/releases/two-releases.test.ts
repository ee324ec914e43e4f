import { expect, onTestFinished, test } from 'vitest';
import { runChaos } from '../../../scripts/chaos/run.ts';
import { tcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import type { ServiceProcess } from '../../../scripts/parts/service-process.ts';
import { migrateForward } from '../../../src/platform/migrations.ts';
import { maintenanceTasks, type MaintenanceTask } from '../../../src/jobs/maintenance.ts';
import { describeUnless } from '../../support/leave-out.ts';
import { emptyDatabase } from '../../support/postgres.ts';
import { startHouse } from '../support/house.ts';
import { keepHouse } from '../support/housekeeping.ts';
import { wholeExchange } from './exchange.ts';
import { buildPreviousRelease, missingRelease } from './previous-release.ts';

const tasks = Object.keys(maintenanceTasks) as MaintenanceTask[];

describeUnless(missingRelease, 'two releases on one database', () => {
  test('the new one on the old schema, both while it changes, the old one on the new schema', async () => {
    const before = await buildPreviousRelease();
    onTestFinished(() => before.remove());
    const database = await emptyDatabase();
    onTestFinished(() => database.drop());
    const apis: ServiceProcess[] = [];
    const balancer = await tcpBalancer(() =>
      apis.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })),
    );
    onTestFinished(() => balancer.close());
    const house = await startHouse(database, `http://127.0.0.1:${balancer.port}`);
    onTestFinished(() => house.stop());
    before.migrate(house.env);

    const [api, worker] = await Promise.all([house.start('api'), house.start('worker')]);
    apis.push(api);
    await wholeExchange(house, api.url);
    await keepHouse(house, tasks);

    const { signal } = new AbortController();
    const { flaws, history } = await runChaos(house, {
      async disturb() {
        await house.more(20);
        const old = await Promise.all(
          (['api', 'worker'] as const).map((part) => house.start(part, { program: before.program(part) })),
        );
        apis.push(...old.slice(0, 1));
        await house.more(40);
        const begun_at = Date.now();
        await migrateForward(database.url);
        const ended_at = Date.now();
        await house.more(40);
        apis.shift();
        await house.end(api, worker);
        await house.more(40);
        return [{ kind: 'schema changed', begun_at, ended_at }];
      },
      seed: 8,
      size: { agents: 5, threads: 4 },
      signal,
      say: () => undefined,
      complaints: [],
    });
    expect(flaws).toEqual([]);
    expect(history.sends.length).toBeGreaterThan(140);

    await wholeExchange(house, apis[0]?.url ?? '');
    await keepHouse(house, before.tasks);
    expect(await house.errors()).toEqual([]);
  });
});
