import { describe, expect, test } from 'vitest';
import { useContacts } from '../../../clients/contacts.ts';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { describeWithRedis } from '../../../support/servers/redis/server.ts';
import type { Backend, TestAgent } from '../../../support/service.ts';
import { accepted, changes, applySteps } from './send-context-changes.ts';
import {
  createAgent,
  createThreadOfTwo,
  createWarmThread,
  named,
  openThread,
  type ThreadOfTwo,
  type TestThread,
  useTwoProcesses,
} from './warm-threads.ts';

/** Where a change is made, while the first process handles the sends. */
interface Place {
  name: string;
  changedBy: 0 | 1;
  hasBus: boolean;
}

await describeWithRedis('on Redis', () =>
  testKnownThreads('redis', [{ name: 'in another process', changedBy: 1, hasBus: true }]),
);
describe('on PostgreSQL', () =>
  testKnownThreads('postgres', [
    { name: 'in the same process', changedBy: 0, hasBus: true },
    { name: 'in another process whose bus messages are lost', changedBy: 1, hasBus: false },
  ]));

function testKnownThreads(backend: Backend, places: readonly Place[]): void {
  const processes = useTwoProcesses({ backend });

  const runAt = ({ hasBus }: Place, run: () => Promise<void>) =>
    hasBus ? run() : processes().withoutBus(run);

  /** Each member sends once. */
  async function sendBoth({ ann, bob, thread }: ThreadOfTwo): Promise<string[]> {
    const answers = [await thread.send(ann), await thread.send(bob)];
    return answers.map(outcomeOf);
  }

  describe.each(named(places))('a change %s decides about the next message', (_place, place) => {
    test.each(named(changes))('%s', (_change, { prepare = [], change, outcomes, undo }) =>
      runAt(place, async () => {
        const api = processes().apis[place.changedBy];
        const pair = await createThreadOfTwo(processes());
        const { ann, bob, thread } = pair;
        await applySteps(prepare, pair, api);
        await thread.warmUp([ann, bob]);
        let sent = 8;
        for (let round = 0; round < (undo ? 2 : 1); round += 1) {
          await applySteps([change], pair, api);
          expect(await sendBoth(pair)).toEqual(outcomes);
          sent += outcomes.filter((outcome) => outcome === accepted).length;
          if (!undo) continue;
          await applySteps(undo, pair, api);
          expect(await sendBoth(pair)).toEqual([accepted, accepted]);
          sent += 2;
        }
        expect(await thread.list(outcomes[0].startsWith('401') ? bob : ann)).toHaveLength(sent);
      }),
    );
  });

  describe.each(named(places))('a change of members %s applies to the next message', (_place, place) => {
    const api = () => processes().apis[place.changedBy];
    const add = async (thread: TestThread, by: TestAgent, { handle }: TestAgent) =>
      expect((await thread.call('POST', '/members', by, { handle }, api())).status).toBe(201);
    const remove = async (thread: TestThread, by: TestAgent, { id }: TestAgent) =>
      expect((await thread.call('DELETE', `/members/${id}`, by, undefined, api())).status).toBe(204);

    async function createGroup() {
      const [ann, bob, cleo] = await Promise.all([
        createAgent(processes()),
        createAgent(processes()),
        createAgent(processes()),
      ]);
      return { ann, bob, cleo, thread: await openThread(processes(), [ann, bob, cleo]) };
    }

    test.each(['is removed', 'leaves'])('an agent is added, and later %s', (end) =>
      runAt(place, async () => {
        const { ann, bob, thread } = await createWarmThread(processes());
        const cleo = await createAgent(processes());
        const readEvents = await followFeed(processes().apis[0], cleo.token);
        const readEventsOfBob = await followFeed(processes().apis[0], bob.token);
        for (let round = 0; round < 2; round += 1) {
          expect(outcomeOf(await thread.send(cleo))).toBe('404 THREAD_NOT_FOUND');
          await add(thread, bob, cleo);
          const next = await thread.send(ann);
          const received = await readEvents();
          expect(received.map(({ type }) => type)).toEqual(['thread.member_added', 'message.created']);
          expect(received[1]?.data).toMatchObject({ id: next.body.id, sequence: next.body.sequence });
          expect((await thread.list(cleo)).at(-1)?.id).toBe(next.body.id);
          expect((await readEventsOfBob()).map(({ type }) => type)).toEqual([
            'thread.member_added',
            'message.created',
          ]);

          await thread.warmUp([cleo, ann, bob]);
          expect(await readEvents()).toHaveLength(12);
          await remove(thread, end === 'leaves' ? cleo : ann, cleo);
          const later = [await thread.send(ann), await thread.send(bob), await thread.send(cleo)];
          expect(later.map(({ status }) => status)).toEqual([201, 201, 404]);
          expect((await readEvents()).map(({ type }) => type)).toEqual(['thread.member_removed']);
          expect(await readEventsOfBob()).toHaveLength(12 + 1 + 2);
        }
        expect(await thread.list(ann)).toHaveLength(8 + 2 * (1 + 12 + 2));
      }),
    );

    test('a group becomes a thread of two, where the policy of the recipient applies', () =>
      runAt(place, async () => {
        const { ann, bob, cleo, thread } = await createGroup();
        const body = { inbound_policy: 'contacts_only' };
        const path = `${api()}/agents/${bob.id}`;
        expect((await requestRest('PATCH', path, { token: bob.token, body })).status).toBe(200);
        await thread.warmUp([ann, bob, cleo]);
        for (let round = 0; round < 2; round += 1) {
          await remove(thread, cleo, cleo);
          expect(outcomeOf(await thread.send(ann))).toBe('403 NOT_CONTACTS');
          await add(thread, bob, cleo);
          expect((await thread.send(ann)).status).toBe(201);
        }
        expect(await thread.list(cleo)).toHaveLength(14);
      }));

    test('a member of a group blocks the sender', () =>
      runAt(place, async () => {
        const { ann, bob, cleo, thread } = await createGroup();
        const trust = useContacts({ api: api() });
        await thread.warmUp([ann, bob, cleo]);
        for (let round = 0; round < 2; round += 1) {
          expect((await trust.block(cleo, ann.handle)).status).toBe(201);
          expect(outcomeOf(await thread.send(ann))).toBe('403 NOT_ALLOWED');
          const others = [await thread.send(bob), await thread.send(cleo)];
          expect(others.map(({ status }) => status)).toEqual([201, 201]);
          expect((await trust.unblock(cleo, ann.id)).status).toBe(204);
          expect((await thread.send(ann)).status).toBe(201);
        }
        expect(await thread.list(bob)).toHaveLength(12 + 2 * 3);
      }));
  });
}
