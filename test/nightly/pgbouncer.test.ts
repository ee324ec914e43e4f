import { connectTo } from '../support/servers/postgres/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startTestCluster, startConversation } from '../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../support/cluster/delivery-check.ts';
import { followMessages } from '../clients/message-follower.ts';
import { startMessageLoad } from '../support/cluster/message-load.ts';
import { describeUnless } from '../support/vitest/describe-unless.ts';
import { findMissingPgbouncer, startPgbouncer } from '../support/servers/postgres/pgbouncer.ts';
import { requestRest } from '../clients/rest.ts';

describeUnless(
  await findMissingPgbouncer(),
  'with a pooler that gives each transaction another connection',
  () => {
    test('messages are sent, delivered, found and listed; a wait for a lock times out', async () => {
      const cluster = await startTestCluster('postgres');
      const direct = String(cluster.env['DATABASE_URL']);
      const pooler = await startPgbouncer(direct);
      onTestFinished(() => pooler.stop());
      const env = {
        DATABASE_URL: pooler.url,
        DATABASE_DIRECT_URL: direct,
        DATABASE_POOLER: 'transaction',
        DATABASE_LOCK_SECONDS: '1',
      };
      const [one, two] = await Promise.all([
        cluster.startApi(env),
        cluster.startApi(env),
        cluster.startWorker(env),
      ]);
      const talk = await startConversation(cluster.core, one.url);
      const follower = await followMessages(talk.members[1], () => [two.url]);
      const load = startMessageLoad(talk, () => [one.url, two.url]);
      await load.waitForMore(100);
      await load.finish();
      load.expectNoErrors();
      await follower.waitUntil(load.acknowledged.length);
      await expectExactlyOnce({ core: cluster.core, url: two.url }, talk, load.acknowledged);

      const { token } = talk.members[0];
      const listed = await requestRest('GET', `${two.url}/v1/threads`, { token });
      expect(listed.body.threads).toHaveLength(1);
      const holder = await connectTo(direct);
      await holder.query('begin');
      await holder.query('select 1 from threads where id = $1 for update', [talk.thread_id]);
      const body = { content: 'too late' };
      const refused = await requestRest('POST', `${one.url}/v1/threads/${talk.thread_id}/messages`, {
        token,
        body,
      });
      expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    });
  },
);
