import { expect, test } from 'vitest';
import { waitUntil } from '../../webhooks/setup.ts';
import { type Installation, startInstallation } from '../setup.ts';
import { connect, threadOf } from './setup.ts';
import { stopAfterTest } from '../../../support/use.ts';

const withLoop = (points: number) =>
  `loop=${points}/600,send_message=1000/60,create_thread=1000/60,default=10000/60`;

async function start(RATE_LIMITS: string): Promise<Installation> {
  return stopAfterTest(await startInstallation({ env: { RATE_LIMITS } }));
}

/** Two agents that an invitation connected, and what each does in turn: answer the last message of the other one, once. */
async function meet(limits: { here: string; there: string }) {
  const [here, there] = [await start(limits.here), await start(limits.there)];
  const { ann, bob, remoteBob, remoteAnn } = await connect(here, there);
  const { thread_id } = await here.ask(ann, remoteBob, 'Hello');
  const thread = await threadOf(there, bob);
  const sides = [
    { service: here, agent: ann, thread_id, remote: remoteBob },
    { service: there, agent: bob, thread_id: thread, remote: remoteAnn },
  ] as const;
  const answered = new Set<string>();
  let isRefused = false;

  async function answer({ service, agent, thread_id: id }: (typeof sides)[number]): Promise<void> {
    const last = (await service.messages(agent, id)).at(-1);
    if (last && last.sender.id !== agent.id && !answered.has(last.id)) {
      answered.add(last.id);
      const { status } = await service.post(agent, `/threads/${id}/messages`, { content: 'And you?' });
      expect([201, 429]).toContain(status);
      isRefused ||= status === 429;
    }
    await service.pass(id);
  }
  const lengths = () =>
    Promise.all(sides.map(async (side) => (await side.service.messages(side.agent, side.thread_id)).length));

  return {
    lengths,
    async answerBoth(): Promise<void> {
      for (const side of sides) await answer(side);
    },
    /** An agent was refused, or a message of the other side was: it waits there, or the reads of its task apply nothing. */
    async isStopped(): Promise<boolean> {
      const errors = await Promise.all(
        sides.map(
          async ({ service, remote }) => (await service.core.db.remoteAgents.find(remote.id))?.last_error,
        ),
      );
      const [task] = await here.sql<{ polls: number }>('select max(polls) as polls from remote_tasks', []);
      const [mine = 0, theirs = 0] = await lengths();
      const isHeld = theirs > mine && Number(task?.polls) > 3;
      return (
        isRefused || isHeld || errors.some((error) => error?.includes('This looks like a loop') === true)
      );
    },
    /** The time in which the exchanges count is over. */
    async endPeriod(): Promise<void> {
      for (const { service } of sides) await service.sql('delete from thread_exchanges', []);
    },
  };
}

test.each([
  { guard: 'here', points: 6 },
  { guard: 'here', points: 7 },
  { guard: 'there', points: 6 },
  { guard: 'there', points: 7 },
  { guard: 'both', points: 6 },
] as const)('the guard of one side is enough to stop a loop: $guard, $points', async ({ guard, points }) => {
  const limitsOf = (side: 'here' | 'there') =>
    guard === side || guard === 'both' ? withLoop(points) : 'off';
  const both = await meet({ here: limitsOf('here'), there: limitsOf('there') });
  await waitUntil(async () => {
    await both.answerBoth();
    return both.isStopped();
  }).toBe(true);
  // It stays stopped.
  for (let round = 0; round < 5; round += 1) await both.answerBoth();
  for (const length of await both.lengths()) expect(length).toBeLessThanOrEqual(points + 3);
  // What the guard held back is not lost.
  await both.endPeriod();
  await waitUntil(async () => {
    await both.answerBoth();
    const [mine = 0, theirs = 0] = await both.lengths();
    return mine === theirs && mine >= points;
  }).toBe(true);
});
