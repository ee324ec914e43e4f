import { expect, test } from 'vitest';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { setOutgoingPolicy } from '../../../src/services/agents/outgoing-policy.ts';
import { requestRest } from '../../clients/rest.ts';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { issueTokenFor, registerAgent } from '../../support/service.ts';
import { holdWrites } from '../support/hold-stage.ts';

/** Writes of an approval; a process is killed at each of them. */
const writes = [
  { table: 'approvals', on: 'update', when: `old.state = 'pending' and new.state = 'approved'` },
  { table: 'messages', on: 'insert', when: 'true' },
  { table: 'idempotency_keys', on: 'insert', when: 'true' },
  { table: 'events', on: 'insert', when: 'true' },
] as const;

test('an approval takes effect whole or not at all, wherever its process is killed', async () => {
  const cluster = await startTestCluster('postgres');
  const { core } = cluster;
  const other = await cluster.startApi();
  const { thread_id, members } = await startConversation(core, other.url);
  const [ann, bob] = members;
  await core.unitOfWork.write(system, (work) => setOutgoingPolicy(work, ann, 'review_all'));
  const kin = await registerAgent(core, { handle: ann.handle.replace(/\.\w+$/, '.kin') });
  const decider = await issueTokenFor(core, kin.handle, { scopes: ['approvals:write'] });
  const path = `/threads/${thread_id}/messages`;
  const send = (content: string) =>
    requestRest('POST', `${other.url}/v1${path}`, {
      token: ann.token,
      body: { content },
      headers: { 'Idempotency-Key': content },
    });
  const contents = async () => {
    const { body } = await requestRest('GET', `${other.url}/v1${path}?order=asc`, { token: bob.token });
    return body.messages.map(({ content }: { content: string }) => content);
  };
  for (const [at, { table, ...write }] of writes.entries()) {
    const before = writes.slice(0, at).map((each) => each.table);
    const held = await send(table);
    expect(held.status, table).toBe(202);
    const { id } = held.body.error.approval;
    const approve = (url: string) =>
      requestRest('POST', `${url}/v1/approvals/${id}/approve`, { token: decider, body: {} });
    const killed = await cluster.startApi();
    const holder = await holdWrites(cluster, table, write);
    const unanswered = approve(killed.url).then(
      ({ status }) => status,
      () => 'no answer',
    );
    await holder.reached();
    await killed.kill9();
    await holder.release();
    expect(await unanswered, table).toBe('no answer');
    await core.database.query({ text: `drop trigger hold_${table} on ${table}` }, []);
    expect(await contents(), table).toEqual(before);
    expect((await send(table)).status, table).toBe(202);
    const approved = await approve(other.url);
    expect([approved.status, approved.body.state], table).toEqual([200, 'approved']);
    expect(await contents(), table).toEqual([...before, table]);
    const repeated = await send(table);
    expect([repeated.status, repeated.body.content], table).toEqual([201, table]);
    expect(await contents(), table).toEqual([...before, table]);
  }
});
