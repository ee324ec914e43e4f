import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { maintenanceTasks, type MaintenanceTask } from '../../../src/jobs/maintenance.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';
import { inboxOf, startWork } from './setup.ts';

interface SentStatement {
  connection: pg.Client;
  name: string | undefined;
  text: string;
  values: readonly unknown[];
}

let service: TestService;
let sent: SentStatement[] = [];

beforeAll(async () => {
  const { query } = pg.Client.prototype;
  function record(this: pg.Client, statement: pg.QueryConfig | string, ...rest: unknown[]): unknown {
    const { name, text, values = [] } = typeof statement === 'string' ? { text: statement } : statement;
    sent.push({ connection: this, name, text, values });
    return Reflect.apply(query, this, [statement, ...rest]);
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(record);
  service = await startService({ worker: false });
});
afterAll(() => service.stop());
afterAll(() => void vi.restoreAllMocks());

/** Every statement that this process sends to the database from now on. */
function recordStatements(): SentStatement[] {
  sent = [];
  return sent;
}

/** Leaves out what another service in this process sends to its own database. */
const touchesInboxes = ({ text, connection }: SentStatement) =>
  /\binbox(?:es|_\w+)\b/.test(text) && service.core.config.DATABASE_URL.endsWith(`/${connection.database}`);

test('maintenance reads idle inboxes together and writes to none', async () => {
  const handler = maintenanceHandler(service.core);
  const runRounds = async () => {
    const recorded = recordStatements();
    for (let round = 0; round < 3; round += 1)
      for (const task of Object.keys(maintenanceTasks) as MaintenanceTask[]) await handler.handle({ task });
    return recorded.filter(touchesInboxes);
  };
  const without = await runRounds();
  const agents = await Promise.all(Array.from({ length: 5 }, () => service.agent()));
  for (const agent of agents) await inboxOf(service.api, agent).turnOn();
  const withInboxes = await runRounds();

  expect(withInboxes.map(({ name }) => name)).toEqual(without.map(({ name }) => name));
  const ids = new Set<unknown>(agents.map(({ id }) => id));
  expect(withInboxes.filter(({ values }) => values.flat().some((value) => ids.has(value)))).toEqual([]);
});

test('a send runs the same statements whether or not the recipient has an inbox', async () => {
  const { asker, worker, send, thread } = await startWork(service);
  const without = await service.agent();
  const plain = await service.thread(asker, without);
  const sendAndRecord = async (text: string, to: string, { id }: TestAgent) => {
    const recorded = recordStatements();
    await send(text, to);
    const commit = recorded.find(({ values }) => JSON.stringify(values).includes(text));
    const ofConnection = recorded.filter(({ connection }) => connection === commit?.connection);
    expect(JSON.stringify(ofConnection.map(({ values }) => values))).toContain(id);
    expect(recorded.filter(touchesInboxes)).toEqual([]);
    return ofConnection.map(({ name, text: statement }) => name ?? statement);
  };
  // The first send of an agent reads what later ones find in memory.
  for (const [to, agent] of [
    [plain, without],
    [thread, worker],
  ] as const)
    await sendAndRecord('warm up', to, agent);
  const expected = await sendAndRecord('without an inbox', plain, without);
  expect(expected.length).toBeGreaterThan(3);
  expect(await sendAndRecord('with an inbox', thread, worker)).toEqual(expected);
});
