import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { migrateForward } from '../../../src/platform/database/migrations.ts';
import { startWorker } from '../../../workers/start.ts';
import { findDebianPostgres, startDebianPostgres } from '../../support/servers/postgres/debian.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent, type TestAgent } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { fetchContent, uploadId } from '../../integration/attachments/setup.ts';

const run = promisify(execFile);
const binaries = await findDebianPostgres();

/** An API in this process, optionally with a worker. */
async function start(env: Record<string, string>, { worker }: { worker: boolean }) {
  const config = loadConfig(env);
  const core = compose(config, 'test');
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(core, lifecycle);
  if (worker) await startWorker(compose(config, 'test-worker'), lifecycle);
  const stop = () => lifecycle.stop('the test is over');
  onTestFinished(async () => void (await stop()));
  const url = `http://127.0.0.1:${port}`;
  return { core, url, api: `${url}/v1`, stop };
}

type Running = Awaited<ReturnType<typeof start>>;

async function page({ api }: Running, { token }: TestAgent, cursor: string | undefined, limit = 100) {
  const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const { status, body } = await requestRest('GET', `${api}/events?limit=${limit}${query}`, { token });
  expect(status).toBe(200);
  const events = body.events as { type: string; data: { content?: string } }[];
  return {
    gap: body.gap === true,
    cursor: String(body.cursor),
    said: events.filter(({ type }) => type === 'message.created').map(({ data }) => data.content),
  };
}

describeUnless(
  binaries === undefined ? 'no PostgreSQL of Debian with pg_dump in /usr/lib/postgresql' : undefined,
  'a backup that is restored into an empty cluster, with Redis emptied',
  () => {
    test('has threads, feeds, files, pending jobs and keys; a reader with a later position receives a gap', async () => {
      const bin = binaries ?? '';
      const [before, after, redis] = await Promise.all([
        startDebianPostgres(bin),
        startDebianPostgres(bin),
        startTestRedis(),
      ]);
      const folder = await mkdtemp(join(tmpdir(), 'ams-restore-'));
      onTestFinished(async () => {
        await Promise.all([before.stop(), after.stop(), redis.stop()]);
        await rm(folder, { recursive: true, force: true });
      });
      const port = await findFreePort();
      const env = {
        DATABASE_URL: before.url,
        REDIS_URL: redis.url,
        DATA_DIR: join(folder, 'first'),
        SECRET_KEY: randomBytes(32).toString('base64'),
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        HOST: '127.0.0.1',
        PORT: String(port),
        RATE_LIMITS: 'off',
        LOG_LEVEL: 'silent',
        // The doctor fetches such a document, and this machine may have no way to its address.
        CLIENT_ID_METADATA_DOCUMENTS: 'false',
      };
      await migrateForward(env.DATABASE_URL);

      // Without a worker, every job from here on is pending when the backup is made.
      const first = await start(env, { worker: false });
      const ann = await buildAgent(first.core);
      const bob = await buildAgent(first.core);
      const thread = await requestRest('POST', `${first.api}/threads`, {
        token: ann.token,
        body: { participants: [bob.handle] },
      });
      const beginning = (await page(first, bob, undefined)).cursor;
      const messages = (service: Running) => `${service.api}/threads/${thread.body.id}/messages`;
      const send = (service: Running, content: string, key: string = randomUUID()) =>
        requestRest('POST', messages(service), { token: ann.token, key, body: { content } });
      const key = randomUUID();
      const one = await send(first, 'kept one', key);
      await send(first, 'kept two');
      const file = await uploadId(first, ann, { bytes: Buffer.from('kept bytes') });
      expect([thread.status, one.status]).toEqual([201, 201]);
      const kept = await page(first, bob, beginning);
      expect(kept.said).toEqual(['kept one', 'kept two']);

      const dump = join(folder, 'ams.dump');
      await run(join(bin, 'pg_dump'), ['-Fc', '-f', dump, '-d', before.url]);
      await cp(join(folder, 'first/blobs'), join(folder, 'second/blobs'), { recursive: true });

      await send(first, 'lost one');
      await send(first, 'lost two');
      const lost = await page(first, bob, kept.cursor);
      expect(lost.said).toEqual(['lost one', 'lost two']);
      await first.stop();
      await redis.kill9();
      await redis.restart();

      await run(join(bin, 'pg_restore'), ['--no-owner', '--exit-on-error', '-d', after.url, dump]);
      const again = { ...env, DATABASE_URL: after.url, DATA_DIR: join(folder, 'second') };
      const doctor = await runCli(again, ['doctor']);
      expect(doctor.out).toMatch(/^FAIL +feeds/m);
      const second = await start(again, { worker: true });

      // Before new events: the first agent continues at its position; the position of the other agent is invalid.
      expect(await page(second, bob, beginning)).toMatchObject({ gap: false, said: kept.said });
      expect(await page(second, bob, kept.cursor)).toMatchObject({ gap: false, said: [] });
      expect(await page(second, bob, lost.cursor)).toMatchObject({ gap: true, said: [] });
      const live = await connectWebSocket(second.url, { token: bob.token, cursor: kept.cursor });
      expect(live.ready).toMatchObject({ resumed: true, gap: false });

      // As many events as were lost, so that reused positions would match those cursors exactly.
      expect((await send(second, 'new one')).status).toBe(201);
      expect((await send(second, 'new two')).status).toBe(201);
      expect(await page(second, bob, beginning, 1)).toMatchObject({ gap: false, said: ['kept one'] });
      const whole = await through(second, bob, beginning);
      expect(whole).toEqual({ gap: false, said: ['kept one', 'kept two', 'new one', 'new two'] });
      expect(await through(second, bob, kept.cursor)).toEqual({ gap: false, said: ['new one', 'new two'] });
      expect(await through(second, bob, lost.cursor)).toEqual({ gap: true, said: ['new one', 'new two'] });
      const behind = await connectWebSocket(second.url, { token: bob.token, cursor: lost.cursor });
      const replay = await connectWebSocket(second.url, { token: bob.token, cursor: beginning });
      expect(behind.ready).toMatchObject({ resumed: true, gap: true });
      const said = (client: typeof live) =>
        client.events().flatMap(({ type, data }) => (type === 'message.created' ? [data?.['content']] : []));
      for (const client of [live, behind]) {
        await client.waitUntil(() => said(client).length === 2);
        expect(said(client)).toEqual(['new one', 'new two']);
      }
      await replay.waitUntil(() => said(replay).length === 4);
      expect(said(replay)).toEqual(whole.said);
      await Promise.all([live.close(), behind.close(), replay.close()]);

      const repeated = await send(second, 'kept one', key);
      expect([repeated.status, repeated.body.id]).toEqual([201, one.body.id]);
      const list = await requestRest('GET', `${messages(second)}?order=asc`, { token: bob.token });
      expect(list.body.messages.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);

      // The jobs that the lost Redis held.
      await vi.waitFor(
        async () => {
          const found = await requestRest('GET', `${second.api}/messages/search?q=kept`, {
            token: bob.token,
          });
          expect(found.body.results).toHaveLength(2);
          expect(await (await fetchContent(second, ann, file)).text()).toBe('kept bytes');
          const owed = { text: 'select job from outbox' };
          expect(await second.core.database.query(owed, [])).toEqual([]);
        },
        { timeout: 60_000, interval: 200 },
      );

      // The last step of the restore in docs/operations.md.
      const checked = await runCli(again, ['doctor']);
      expect([checked.code, checked.err], checked.out).toEqual([0, '']);

      // The next start finds the database unchanged; a restored snapshot must be declared.
      const end = (await page(second, bob, kept.cursor)).cursor;
      await second.stop();
      const third = await start(again, { worker: false });
      const stretches = async () => {
        const [bounds] = await third.core.db.feed.readBounds([bob.id]);
        return bounds?.ended_stretches?.length;
      };
      expect(await stretches()).toBe(1);
      expect(await runCliJson(again, ['feeds', 'mark-restored'])).toEqual({ feeds: 2, changed: false });
      expect(await stretches()).toBe(1);
      expect(await runCliJson(again, ['feeds', 'mark-restored', '--yes'])).toEqual({
        feeds: 2,
        changed: true,
      });
      expect(await stretches()).toBe(2);
      expect(await through(third, bob, end)).toEqual({ gap: false, said: [] });
      expect((await send(third, 'newest')).status).toBe(201);
      expect(await through(third, bob, end)).toEqual({ gap: false, said: ['newest'] });
      expect(await through(third, bob, lost.cursor)).toEqual({
        gap: true,
        said: ['new one', 'new two', 'newest'],
      });
    });
  },
);

/** All events after a position, in pages of two. */
async function through(service: Running, agent: TestAgent, from: string) {
  const found = { gap: false, said: [] as (string | undefined)[] };
  let cursor = from;
  for (;;) {
    const next = await page(service, agent, cursor, 2);
    found.gap ||= next.gap;
    found.said.push(...next.said);
    if (next.cursor === cursor) return found;
    cursor = next.cursor;
  }
}
