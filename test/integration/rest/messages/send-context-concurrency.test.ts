import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, type RestResponse } from '../../../clients/rest.ts';
import { describeWithRedis } from '../../../support/servers/redis/server.ts';
import type { Backend, TestAgent } from '../../../support/service.ts';
import { changes, applySteps } from './send-context-changes.ts';
import {
  createAgent,
  createThreadOfTwo,
  createWarmThread,
  named,
  openThread,
  type StoredMessage,
  type TestThread,
  times,
  useTwoProcesses,
} from './warm-threads.ts';

const absentMessage = `msg_${'0'.repeat(26)}`;
const statusesOf = (answers: readonly RestResponse[]) => answers.map(({ status }) => status);
const idsOf = (answers: readonly RestResponse[]): string[] => answers.map(({ body }) => body.id);
const isReplay = ({ headers }: RestResponse) => headers.get('idempotency-replayed') === 'true';

await describeWithRedis('the order of concurrent sends on Redis', () => testOrder('redis'));
describe('the order of concurrent sends on PostgreSQL', () => testOrder('postgres'));

function testOrder(backend: Backend): void {
  const processes = useTwoProcesses({ backend });
  const apiOf = (at: number) => processes().apis[at % 2 === 0 ? 0 : 1];

  /** Sends `count` messages, `inFlight` at a time, each through the other process than the last one. */
  async function sendMany(
    thread: TestThread,
    by: TestAgent,
    { count, inFlight, onAnswer }: { count: number; inFlight: number; onAnswer?: (sent: number) => unknown },
  ): Promise<StoredMessage[]> {
    const sent: StoredMessage[] = [];
    let started = 0;
    const sendOneByOne = async (): Promise<void> => {
      while (started < count) {
        const at = (started += 1);
        const answer = await thread.send(by, { api: apiOf(at), body: { content: `${by.id} ${at}` } });
        expect(answer.status, answer.text).toBe(201);
        sent.push(answer.body);
        await onAnswer?.(sent.length);
      }
    };
    await Promise.all(times(inFlight, sendOneByOne));
    return sent;
  }

  /** The positions of a feed have no gap. */
  async function expectGaplessFeed({ id }: TestAgent): Promise<void> {
    const text = 'select number from feed where agent_id = $1 order by number';
    const rows = await processes().service.core.database.query<{ number: number }>({ text }, [id]);
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, at) => at + 1));
  }

  test('both members send through both processes: sequences and feeds have no gap', async () => {
    const { ann, bob, thread } = await createWarmThread(processes());
    const feeds = await Promise.all(
      [ann, bob].map(({ token }, at) => followFeed(processes().apis[at === 0 ? 0 : 1], token)),
    );
    const sent = await Promise.all([ann, bob].map((by) => sendMany(thread, by, { count: 60, inFlight: 5 })));
    const stored = await thread.list(bob);
    expect(stored).toHaveLength(8 + 120);
    const inOrder = sent.flat().toSorted((one, other) => one.sequence - other.sequence);
    expect(stored.slice(8)).toEqual(inOrder);
    for (const feed of feeds) {
      const events = await feed();
      expect(events.map(({ type, data }) => [type, data.id])).toEqual(
        inOrder.map(({ id }) => ['message.created', id]),
      );
    }
    await Promise.all([ann, bob].map(expectGaplessFeed));
  });

  test('an agent that is added and removed during concurrent sends gets exactly the messages between', async () => {
    const { ann, bob, thread } = await createWarmThread(processes());
    const cleo = await createAgent(processes());
    const [readEventsOfAnn, readEventsOfCleo] = await Promise.all([
      followFeed(processes().apis[0], ann.token),
      followFeed(processes().apis[0], cleo.token),
    ]);
    const changeMembers: Record<number, () => Promise<RestResponse>> = {
      10: () => thread.call('POST', '/members', bob, { handle: cleo.handle }, apiOf(1)),
      20: () => thread.call('DELETE', `/members/${cleo.id}`, bob, undefined, apiOf(0)),
    };
    const onAnswer = async (sent: number) => {
      const answer = await changeMembers[sent]?.();
      expect(answer?.status ?? 200, answer?.text).toBeLessThan(300);
    };
    await Promise.all([
      sendMany(thread, ann, { count: 40, inFlight: 4 }),
      sendMany(thread, bob, { count: 40, inFlight: 4, onAnswer }),
    ]);
    const toIds = (events: Awaited<ReturnType<typeof readEventsOfAnn>>) => events.map(({ id }) => id);
    const all = await readEventsOfAnn();
    const types = all.map(({ type }) => type);
    const between = all.slice(
      types.indexOf('thread.member_added'),
      types.indexOf('thread.member_removed') + 1,
    );
    expect(toIds(await readEventsOfCleo())).toEqual(toIds(between));
    expect(await thread.list(ann)).toHaveLength(88);
  });
}

describe('the answers of concurrent sends', () => {
  const processes = useTwoProcesses();
  const apiOf = (at: number) => processes().apis[at % 2 === 0 ? 0 : 1];
  const reversible = changes.filter(({ undo }) => undo);

  test.each(named(reversible))(
    'a send is refused if it starts after the answer when %s',
    async (_name, row) => {
      const { prepare = [], change, outcomes, undo = [] } = row;
      const pair = await createThreadOfTwo(processes());
      const { ann, bob, thread } = pair;
      await applySteps(prepare, pair, apiOf(0));
      await thread.warmUp([ann, bob]);
      let sent = 8;
      for (let round = 0; round < 2; round += 1) {
        let isChanged = false;
        const sendUntilChanged = async (at: number): Promise<void> => {
          for (let number = 0; ; number += 1) {
            const startedAfter = isChanged;
            const answer = await thread.send(ann, { api: apiOf(at) });
            if (answer.status === 201 && !startedAfter) sent += 1;
            else expect(outcomeOf(answer)).toEqual(outcomes[0]);
            if (startedAfter) return;
            if (at > 0 || number < 2) continue;
            await applySteps([change], pair, apiOf(round));
            isChanged = true;
          }
        };
        // A failure ends the other senders too.
        const stopAll = () => (isChanged = true);
        await Promise.all(times(4, (at) => sendUntilChanged(at).finally(stopAll)));
        await applySteps(undo, pair, apiOf(round));
        const answers = await Promise.all(times(4, (at) => thread.send(ann, { api: apiOf(at) })));
        expect(statusesOf(answers)).toEqual([201, 201, 201, 201]);
        sent += 4;
      }
      expect(await thread.list(bob)).toHaveLength(sent);
    },
  );

  test('a used key gets its first answer, and refuses another body', async () => {
    const { ann, bob, thread } = await createWarmThread(processes());
    const readEvents = await followFeed(processes().apis[0], bob.token);
    const key = randomUUID();
    const send = (api: string, content = 'once') => thread.send(ann, { api, key, body: { content } });
    const first = await send(processes().apis[0]);
    expect([first.status, isReplay(first)]).toEqual([201, false]);
    for (const api of processes().apis) {
      const again = await send(api);
      expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true]);
      expect(outcomeOf(await send(api, 'twice'))).toBe('422 IDEMPOTENCY_MISMATCH');
    }
    const next = await thread.send(bob);
    expect(next.body.sequence).toBe(10);
    expect((await readEvents()).map(({ data }) => data.id)).toEqual([first.body.id, next.body.id]);
    expect((await thread.list(ann)).slice(8).map(({ id }) => id)).toEqual([first.body.id, next.body.id]);
  });

  test('concurrent sends of which several repeat a key get correct answers, and are stored once', async () => {
    const { ann, bob, thread } = await createWarmThread(processes());
    const readEvents = await followFeed(processes().apis[0], bob.token);
    const [used, fresh] = [times(3, () => randomUUID()), times(3, () => randomUUID())];
    const send = (key: string | undefined, at: number, content = `key ${key}`) =>
      thread.send(ann, { api: apiOf(at), key, body: { content } });
    const first = await Promise.all(used.map((key) => send(key, 0)));
    expect(statusesOf(first)).toEqual([201, 201, 201]);
    // Six repeat a used key, two use one with another body, three new keys are sent twice, six have a key of their own.
    const [replays, mismatches, pairs, others] = await Promise.all([
      Promise.all(times(6, (at) => send(used[at % 3], at))),
      Promise.all(times(2, (at) => send(used[at], at, 'another body'))),
      Promise.all(fresh.map((key) => Promise.all(times(2, (at) => send(key, at))))),
      Promise.all(times(6, (at) => send(undefined, at, `message ${at}`))),
    ]);
    expect(replays.map(({ status, text }) => [status, text])).toEqual(
      times(6, (at) => [201, first[at % 3]?.text]),
    );
    expect(replays.filter(isReplay)).toHaveLength(6);
    expect(mismatches.map(outcomeOf)).toEqual(times(2, () => '422 IDEMPOTENCY_MISMATCH'));
    for (const pair of pairs) {
      expect(statusesOf(pair)).toEqual([201, 201]);
      expect(pair[0]?.text).toBe(pair[1]?.text);
      expect(pair.filter(isReplay)).toHaveLength(1);
    }
    expect(statusesOf(others)).toEqual(times(6, () => 201));
    const once = idsOf([...first, ...pairs.flatMap((pair) => pair.slice(1)), ...others]);
    expect(new Set(once).size).toBe(12);
    const stored = (await thread.list(bob)).slice(8).map(({ id }) => id);
    expect(stored.toSorted()).toEqual(once.toSorted());
    expect((await readEvents()).map(({ data }) => data.id)).toEqual(stored);
    expect((await thread.send(ann)).body.sequence).toBe(8 + 12 + 1);
  });

  test('replies to absent messages are refused, while concurrent valid ones succeed', async () => {
    const { ann, bob, thread } = await createWarmThread(processes());
    const elsewhere = await openThread(processes(), [ann, bob]);
    const foreign = await elsewhere.send(bob);
    const latest = await thread.send(bob, { api: apiOf(1) });
    const reply = (at: number, reply_to: string | null) => {
      const body = { content: `reply ${at}`, reply_to };
      return thread.send(at % 3 === 0 ? bob : ann, { api: apiOf(at), body });
    };
    const [valid, absent, wrongThread] = await Promise.all([
      Promise.all(times(12, (at) => reply(at, at < 6 ? latest.body.id : null))),
      Promise.all(times(4, (at) => reply(at, absentMessage))),
      Promise.all(times(2, (at) => reply(at, foreign.body.id))),
    ]);
    expect(statusesOf(valid)).toEqual(times(12, () => 201));
    expect(valid.map(({ body }) => body.reply_to)).toEqual(
      times(12, (at) => (at < 6 ? latest.body.id : null)),
    );
    expect([...absent, ...wrongThread].map(outcomeOf)).toEqual(times(6, () => '404 MESSAGE_NOT_FOUND'));
    const stored = (await thread.list(ann)).slice(9).map(({ id }) => id);
    expect(stored.toSorted()).toEqual(idsOf(valid).toSorted());
  });
});

describe('the loop guard', () => {
  const RATE_LIMITS = 'loop=8/600,send_message=1000/60,create_thread=1000/60,default=1000/60';
  const processes = useTwoProcesses({ env: { RATE_LIMITS } });

  async function expectLoop(answer: Promise<RestResponse>): Promise<void> {
    const { status, body } = await answer;
    expect([status, body.error?.code]).toEqual([429, 'RATE_LIMITED']);
    expect(body.error.details).toEqual([{ field: 'thread_id', message: expect.any(String), reason: 'loop' }]);
  }

  const countExchanges = (messages: readonly StoredMessage[]) =>
    messages.filter(({ sender }, at) => at > 0 && sender.id !== messages[at - 1]?.sender.id).length;

  test.each<[string, (number: number) => 0 | 1]>([
    ['in one process', () => 0],
    ['by members that use different processes', (number) => (number % 2 === 0 ? 0 : 1)],
    ['by members that change the process after each message', (number) => (number % 4 < 2 ? 0 : 1)],
  ])('stops quick answers at exactly the limit %s', async (_name, processOf) => {
    const { ann, bob, thread } = await createThreadOfTwo(processes());
    const send = (by: TestAgent, number: number) =>
      thread.send(by, { api: processes().apis[processOf(number)] });
    for (let number = 0; number <= 8; number += 1) {
      expect((await send(number % 2 === 0 ? ann : bob, number)).status).toBe(201);
    }
    for (const number of [0, 1, 2, 3]) await expectLoop(send(bob, number));
    // The last sender can continue, which gives the other one no new exchange.
    expect((await send(ann, 9)).status).toBe(201);
    await Promise.all(times(6, (number) => expectLoop(send(bob, number))));
    expect(countExchanges(await thread.list(bob))).toBe(8);
  });

  test('counts concurrent answers through both processes exactly', async () => {
    const { ann, bob, thread } = await createThreadOfTwo(processes());
    for (let number = 0; number < 4; number += 1) {
      expect((await thread.send(number % 2 === 0 ? ann : bob)).status).toBe(201);
    }
    const answers = await Promise.all(
      times(24, (at) =>
        thread.send(at % 2 === 0 ? ann : bob, { api: processes().apis[at % 3 === 0 ? 0 : 1] }),
      ),
    );
    expect(statusesOf(answers).filter((status) => status !== 201 && status !== 429)).toEqual([]);
    const stored = await thread.list(ann);
    expect(stored).toHaveLength(4 + statusesOf(answers).filter((status) => status === 201).length);
    let last = stored.at(-1)?.sender.id;
    for (let left = 8 - countExchanges(stored); left > 0; left -= 1) {
      const next = last === ann.id ? bob : ann;
      expect((await thread.send(next, { api: processes().apis[left % 2 === 0 ? 0 : 1] })).status).toBe(201);
      last = next.id;
    }
    for (const api of processes().apis) await expectLoop(thread.send(last === ann.id ? bob : ann, { api }));
    expect(countExchanges(await thread.list(ann))).toBe(8);
  });
});
