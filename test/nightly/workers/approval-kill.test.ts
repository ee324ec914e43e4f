import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { type Backend, buildAgent, issueTokenFor } from '../../support/service.ts';
import {
  answerElicitation,
  openElicitingSession,
  startToolCall,
  type RawSession,
} from '../../clients/mcp/raw-elicitation.ts';
import { type ServiceCluster, startTestCluster } from '../../support/cluster/cluster.ts';

/** Locks the relation between two agents, so that the decision about a call stops right before its effect. */
async function holdPair({ env }: ServiceCluster, ids: readonly string[]) {
  const client = await connectTo(env['DATABASE_URL']);
  await client.query('begin');
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended('pair:' || $1 || ':' || $2, 0))`,
    ids.toSorted(),
  );
  const waiting = async () =>
    (await client.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount;
  return { waiting, release: () => client.query('rollback') };
}

function approvalKill(backend: Backend): void {
  test(`a process killed between decision and effect stores neither, and the next decision has the effect once (${backend})`, async () => {
    const cluster = await startTestCluster(backend);
    const { core } = cluster;
    const [killed, other] = await Promise.all([cluster.startApi(), cluster.startApi()]);
    const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
    const token = await issueTokenFor(core, ann.handle, { audience: 'mcp' });
    const sender: RawSession = {
      url: killed.url,
      token,
      session: await openElicitingSession(killed.url, token),
    };
    const there = { ...sender, url: other.url };
    const approval = async () => (await core.db.approvals.listOfAgent(ann.id, Date.now(), 10))[0];
    const requests = () =>
      core.database.query({ text: 'select 1 from contact_requests where from_agent_id = $1' }, [ann.id]);

    const call = await startToolCall(sender, 1, 'request_contact', { handle: bob.handle });
    const id = await call.nextElicitation();
    const held = await holdPair(cluster, [ann.id, bob.id]);
    // The other process receives the answer.
    expect(await answerElicitation(there, id)).toBe(202);
    await expect.poll(held.waiting).toBe(1);
    await killed.kill9();
    await held.release();
    await call.stream.ended;
    await expect.poll(async () => (await requests()).length).toBe(0);
    expect(await approval()).toMatchObject({ state: 'pending', used_at: null });

    const again = await startToolCall(there, 2, 'request_contact', { handle: bob.handle });
    expect(await answerElicitation(there, await again.nextElicitation())).toBe(202);
    expect(await again.result(2)).toMatchObject({ isError: false, value: { status: 'pending' } });
    const third = await startToolCall(there, 3, 'request_contact', { handle: bob.handle });
    expect(await third.result(1)).toMatchObject({ isError: false, value: { status: 'pending' } });
    expect([(await approval())?.used_at, (await requests()).length]).toEqual([expect.any(Number), 1]);
  });
}

approvalKill('postgres');
await describeWithRedis('with Redis', () => {
  approvalKill('redis');
});
