import { expect, test, vi } from 'vitest';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { createRemoteInvitation } from '../../../src/services/remote/invitations.ts';
import type { TestAgent } from '../../support/service.ts';
import { holdWrites } from '../support/hold-stage.ts';
import { type Part, type Side, startSide } from './side.ts';

vi.setConfig({ testTimeout: 900_000 });

/** The commits of a redeemed invitation, in their order. A process that is killed before one of them has made those before it. */
const commits: readonly {
  name: string;
  side: 'here' | 'there';
  part: Part;
  table: string;
  on: 'insert' | 'update';
  when: string;
}[] = [
  {
    name: 'the redeeming side adds the agent',
    side: 'here',
    part: 'api',
    table: 'remote_agents',
    on: 'insert',
    when: 'true',
  },
  {
    name: 'its worker takes the record',
    side: 'here',
    part: 'worker',
    table: 'remote_agents',
    on: 'update',
    when: 'new.next_at > old.next_at and new.attempts = old.attempts and new.card is null',
  },
  {
    name: 'the inviting side adds the agent',
    side: 'there',
    part: 'api',
    table: 'remote_agents',
    on: 'insert',
    when: 'true',
  },
  {
    name: 'it notes that the invitation is redeemed',
    side: 'there',
    part: 'api',
    table: 'remote_invitations',
    on: 'update',
    when: 'new.redeemed_at is not null',
  },
  {
    name: 'the redeeming side keeps the answer',
    side: 'here',
    part: 'worker',
    table: 'remote_agents',
    on: 'update',
    when: 'new.credential is distinct from old.credential',
  },
  {
    name: 'the inviting side keeps the card',
    side: 'there',
    part: 'worker',
    table: 'remote_agents',
    on: 'update',
    when: `old.state = 'waiting' and new.state = 'ready'`,
  },
  {
    name: 'the redeeming side keeps the card',
    side: 'here',
    part: 'worker',
    table: 'remote_agents',
    on: 'update',
    when: `old.state = 'waiting' and new.state = 'ready'`,
  },
];

test('an invitation is redeemed once, and both sides agree, whatever is killed between two commits', async () => {
  const sides = { here: await startSide(), there: await startSide() };
  const { here, there } = sides;
  for (const side of [here, there]) await Promise.all([side.start('api'), side.start('worker')]);
  for (const { name, side, part, ...write } of commits) {
    const [[ann], [bob]] = [await here.agents(1), await there.agents(1)];
    if (!ann || !bob) throw new Error('two agents are needed');
    const invitation = await invite(there, bob);
    const { cluster } = sides[side];
    const holder = await holdWrites(cluster, write.table, write);
    const redeemed = redeem(here, ann, invitation);
    await holder.reached();
    await sides[side].kill(part);
    await holder.release();
    await cluster.core.database.query({ text: `drop trigger hold_${write.table} on ${write.table}` }, []);
    await sides[side].start(part);
    expect(await redeemed, name).toBe(201);
    await expectConnected(here, there, { ann, bob, name });
  }
});

test('an invitation is redeemed once if its answer is lost and the process that gave it is killed', async () => {
  const [here, there] = [await startSide(), await startSide()];
  for (const side of [here, there]) await Promise.all([side.start('api'), side.start('worker')]);
  const [[ann], [bob]] = [await here.agents(1), await there.agents(1)];
  if (!ann || !bob) throw new Error('two agents are needed');
  const invitation = await invite(there, bob);
  there.setLine('unanswered');
  expect(await redeem(here, ann, invitation)).toBe(201);
  await expect.poll(async () => (await listBound(there, bob)).length).toBe(1);
  await there.kill('api');
  await here.kill('worker');
  there.setLine('pass');
  await Promise.all([there.start('api'), here.start('worker')]);
  await expectConnected(here, there, { ann, bob, name: 'a lost answer' });
});

const invite = async ({ cluster }: Side, { id }: TestAgent): Promise<string> =>
  (await cluster.core.unitOfWork.write(system, (work) => createRemoteInvitation(work, id, null))).address;

/** Adds the agent of an invitation; repeated until it is answered. @returns the status */
async function redeem(side: Side, by: TestAgent, invitation: string): Promise<number> {
  const body = { invitation, agent: by.handle };
  return (await side.request('POST', '/remote-agents', { by, body })).status;
}

const listBound = ({ cluster }: Side, { id }: TestAgent) => cluster.core.db.remoteAgents.listBound(id);

/** Each side has one agent of the other one, with one token, and they talk in both directions. */
async function expectConnected(
  here: Side,
  there: Side,
  { ann, bob, name }: { ann: TestAgent; bob: TestAgent; name: string },
): Promise<void> {
  for (const [side, agent] of [
    [here, ann],
    [there, bob],
  ] as const) {
    const state = async () => {
      const [found] = await listBound(side, agent);
      const record = found && (await side.cluster.core.db.remoteAgents.find(found.id));
      // The lease of a killed process ends after a while.
      if (record?.state === 'waiting')
        await side.request('POST', `/remote-agents/${record.agent_id}/refresh`, { by: agent });
      return record?.state;
    };
    await expect.poll(state, { timeout: 60_000, interval: 500, message: name }).toBe('ready');
    expect(await listBound(side, agent), name).toHaveLength(1);
  }
  const [remoteBob, remoteAnn] = [(await listBound(here, ann))[0], (await listBound(there, bob))[0]];
  if (!remoteBob || !remoteAnn) throw new Error('both sides have the other one');
  for (const [side, { id }] of [
    [here, remoteBob],
    [there, remoteAnn],
  ] as const) {
    const sql = 'select from access_tokens where agent_id = $1';
    expect(await side.cluster.core.database.query({ text: sql }, [id]), name).toHaveLength(1);
  }
  for (const [from, by, to, at, reader] of [
    [here, ann, remoteBob, there, bob],
    [there, bob, remoteAnn, here, ann],
  ] as const) {
    const body = { with_handle: to.canonical_handle, initial_message: `Hello from ${by.handle}` };
    expect((await from.request('POST', '/threads', { by, body })).status, name).toBe(201);
    const texts = async () => {
      const { threads } = (await at.request('GET', '/threads', { by: reader })).body;
      const all = await Promise.all(threads.map(({ id }: { id: string }) => at.messages(reader, id)));
      return all.flat().map(({ content }) => content);
    };
    await expect
      .poll(texts, { timeout: 60_000, interval: 200, message: name })
      .toContain(body.initial_message);
  }
}
