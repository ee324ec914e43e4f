import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { initializeRequest } from '../../../clients/mcp/bridge.ts';
import { postRawMessage } from '../../../clients/mcp/client.ts';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import { createTestDatabase, runOnServer } from '../../../support/servers/postgres/database.ts';
import { createSmallDisk, findMountProblem } from '../../../support/servers/postgres/small-disk.ts';
import { buildTestEnv, startService, type TestService } from '../../../support/service.ts';
import { describeUnless } from '../../../support/vitest/describe-unless.ts';
import { stopAfterTest } from '../../../support/use.ts';

async function startOn(database: { url: string; drop(): Promise<void> }): Promise<TestService> {
  const settings = { env: buildTestEnv(database.url), release: database.drop };
  return stopAfterTest(await startService({ worker: false, settings, env: { LOG_LEVEL: 'silent' } }));
}

async function conversation({ agent, api, token }: TestService) {
  const [ann, bob] = await Promise.all([agent(), agent()]);
  const body = { with_handle: bob.handle };
  const { id } = (await requestRest('POST', `${api}/threads`, { token: ann.token, body })).body;
  const { cursor } = (await requestRest('GET', `${api}/events`, { token: ann.token })).body;
  return {
    ann,
    bob,
    cursor,
    messages: `/threads/${id}/messages`,
    mcp: await token(ann.handle, { audience: 'mcp' }),
  };
}

/** The status of readiness; with the health check itself, since a load balancer asks no more. */
const readiness = async ({ url }: TestService) => {
  const { status, body } = await requestRest('GET', `${url}/readyz`);
  return [status, body.parts.database];
};

function expectUnavailable({ status, headers, body }: RestResponse, what: string): void {
  expect([status, body?.error.code, headers.get('retry-after')], what).toEqual([503, 'UNAVAILABLE', '1']);
}

test('on a read-only database writes are 503 with Retry-After, readiness fails, and both recover', async () => {
  const database = await createTestDatabase();
  const service = await startOn(database);
  const { ann, bob, cursor, messages, mcp } = await conversation(service);
  const setReadOnly = (state: 'on' | 'off') =>
    runOnServer(async (client) => {
      const name = new URL(database.url).pathname.slice(1);
      await client.query(`alter database ${name} set default_transaction_read_only = ${state}`);
      await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
        name,
      ]);
    });
  expect(await readiness(service)).toEqual([200, 'ok']);

  await setReadOnly('on');
  // Nothing is written in the meantime.
  await expect.poll(() => readiness(service)).toEqual([503, 'failed']);
  const writes: [method: string, path: string, body: object][] = [
    ['POST', messages, { content: 'Hello' }],
    ['POST', '/threads', { with_handle: bob.handle }],
    ['PATCH', '/agents/me', { display_name: 'Ann' }],
    ['POST', '/contacts/requests', { handle: bob.handle }],
    ['POST', '/blocks', { handle: bob.handle }],
    ['POST', '/allowlist', { entry: bob.handle }],
    ['POST', '/events/ack', { cursor }],
    ['POST', '/realtime/tickets', {}],
  ];
  for (const [method, path, body] of writes)
    expectUnavailable(await requestRest(method, `${service.api}${path}`, { token: ann.token, body }), path);
  const { status, headers } = await postRawMessage(service.url, mcp, initializeRequest);
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  const list = await service.get(ann, messages);
  expect([list.status, list.body.messages]).toEqual([200, []]);

  // New connections may write again. Those that were refused are not used again, although they still exist on the server.
  await runOnServer((client) =>
    client.query(
      `alter database ${new URL(database.url).pathname.slice(1)} reset default_transaction_read_only`,
    ),
  );
  await expect.poll(() => readiness(service)).toEqual([200, 'ok']);
  for (const [method, path, body] of writes) {
    const repeat = async () =>
      (await requestRest(method, `${service.api}${path}`, { token: ann.token, body })).status;
    await expect.poll(repeat).toBeLessThan(300);
  }
});

describeUnless(await findMountProblem(), 'a disk without space', () => {
  test('writes are 503 with Retry-After, readiness fails, and both recover', async () => {
    const disk = await createSmallDisk();
    const service = await startOn(disk);
    const { ann, messages } = await conversation(service);
    const content = 'No space is left for this. '.repeat(1_000);
    const send = () => service.post(ann, messages, { content });
    expect(await readiness(service)).toEqual([200, 'ok']);

    await disk.fill();
    // Nothing is written in the meantime.
    await expect.poll(() => readiness(service)).toEqual([503, 'failed']);
    // Pages of the tables may have space left.
    let answer = await send();
    for (let sends = 0; sends < 100 && answer.status === 201; sends += 1) answer = await send();
    expectUnavailable(answer, 'send_message');
    for (let calls = 0; calls < 40; calls += 1) {
      const body = { display_name: `Ann ${calls}`, description: 'x'.repeat(400) };
      const update = await service.patch(ann, '/agents/me', body);
      if (update.status !== 200) expectUnavailable(update, 'update_me');
    }

    await disk.empty();
    await expect.poll(() => readiness(service)).toEqual([200, 'ok']);
    expect((await send()).status).toBe(201);
  });
});

test('a repeated idempotency key while the database connection breaks is 503, not 500', async () => {
  const database = await createTestDatabase();
  const first = await startOn(database);
  const proxy = await startFragileProxy(database.url);
  const settings = { env: { ...first.env, DATABASE_URL: proxy.url }, release: async () => {} };
  const second = stopAfterTest(await startService({ worker: false, settings, env: { LOG_LEVEL: 'silent' } }));
  const [ann, bob] = await Promise.all([first.agent(), first.agent()]);
  const create = ({ api }: TestService) =>
    requestRest('POST', `${api}/threads`, { token: ann.token, key, body: { with_handle: bob.handle } });
  const key = randomUUID();
  const created = await create(first);
  expect(created.status).toBe(201);
  // The key is used, and the connections break before the other process can read the answer.
  proxy.breakAfterRollbackFor('23505');
  expectUnavailable(await create(second), 'the first repetition');
  proxy.restore();
  const repeated = await create(second);
  expect([repeated.status, repeated.text]).toEqual([201, created.text]);
});

/** Passes connections to PostgreSQL on. After a rollback for the given SQLSTATE, all of them break and new ones are refused. */
async function startFragileProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  /** What the server has still to send before the connections break. */
  let awaited: string[] = [];
  let isBroken = false;

  function notice(data: Buffer): void {
    const [next] = awaited;
    if (next === undefined || !data.includes(next)) return;
    awaited.shift();
    notice(data);
    if (awaited.length > 0) return;
    isBroken = true;
    // The bytes in transit still arrive.
    for (const socket of sockets) socket.end();
  }

  const server = createServer((client) => {
    if (isBroken) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
    client.pipe(upstream);
    upstream.on('data', (data) => {
      client.write(data);
      notice(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    breakAfterRollbackFor(sqlState: string) {
      awaited = [`C${sqlState}`, 'ROLLBACK'];
    },
    restore() {
      isBroken = false;
    },
  };
}

test('a process on a schema that lacks a migration is not ready until it has run', async () => {
  const database = await createTestDatabase();
  const service = await startOn(database);
  const readSchema = async () => {
    const { status, body } = await requestRest('GET', `${service.url}/readyz`);
    return [status, body.parts.schema];
  };
  const [last] = await service.sql<{ name: string; batch: number; migration_time: Date }>(
    'delete from schema_migrations where name = (select max(name) from schema_migrations) returning *',
  );
  expect(await readSchema()).toEqual([503, 'failed']);
  await service.sql('insert into schema_migrations (name, batch, migration_time) values ($1, $2, $3)', [
    last?.name,
    last?.batch,
    last?.migration_time,
  ]);
  await expect.poll(readSchema).toEqual([200, 'ok']);
});
