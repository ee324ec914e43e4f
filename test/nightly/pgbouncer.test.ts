import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startCluster, startConversation } from '../integration/workers/cluster.ts';
import { expectExact } from '../integration/workers/checker.ts';
import { follow } from '../integration/workers/follower.ts';
import { startLoad } from '../integration/workers/load.ts';
import { describeUnless } from '../support/leave-out.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/pgbouncer.ts';
import { rest } from '../support/rest-client.ts';

describeUnless(
  await pgbouncerMissing(),
  'behind a pooler that gives each transaction another connection',
  () => {
    test('messages are sent, delivered, found and listed; what waits for a lock is refused in time', async () => {
      const cluster = await startCluster('postgres');
      onTestFinished(() => cluster.stop());
      const direct = String(cluster.env['DATABASE_URL']);
      const pooler = await startPgbouncer(direct);
      onTestFinished(() => pooler.stop());
      const env = {
        DATABASE_URL: pooler.url,
        DATABASE_DIRECT_URL: direct,
        DATABASE_POOLER: 'transaction',
        DATABASE_LOCK_SECONDS: '1',
      };
      const [one, two] = await Promise.all([cluster.api(env), cluster.api(env), cluster.worker(env)]);
      const talk = await startConversation(cluster.core, one.url);
      const follower = await follow(talk.members[1], () => [two.url]);
      const load = startLoad(talk, () => [one.url, two.url]);
      await load.more(100);
      await load.finish();
      load.expectSmooth();
      await follower.until(load.acknowledged.length);
      await expectExact({ core: cluster.core, url: two.url }, talk, load.acknowledged);

      const { token } = talk.members[0];
      const listed = await rest('GET', `${two.url}/v1/threads`, { token });
      expect(listed.body.threads).toHaveLength(1);
      const holder = new pg.Client({ connectionString: direct });
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query('begin');
      await holder.query('select 1 from threads where id = $1 for update', [talk.thread_id]);
      const body = { content: 'too late' };
      const refused = await rest('POST', `${one.url}/v1/threads/${talk.thread_id}/messages`, { token, body });
      expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    });
  },
);
