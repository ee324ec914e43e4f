import { expect, onTestFinished, test } from 'vitest';
import { a2aAddress } from '../../clients/a2a.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { artifact, buildTask, meetRemote, showTask, startInstallation } from './setup.ts';

test.each([{ maxExchanges: 6 }, { maxExchanges: 7 }])(
  'two installations whose agents answer each other stop after $maxExchanges answers',
  async ({ maxExchanges }) => {
    const env = {
      RATE_LIMITS: `loop=${maxExchanges}/600,send_message=1000/60,create_thread=1000/60,default=10000/60`,
    };
    const [here, there] = [await startInstallation({ env }), await startInstallation({ env })];
    onTestFinished(async () => {
      await Promise.all([here.stop(), there.stop()]);
    });
    const [ann, bob, principal] = [await here.agent(), await there.agent(), await there.agent()];
    const card_url = `${a2aAddress(there.url, bob.handle)}/.well-known/agent-card.json`;
    const credential = { kind: 'bearer', token: principal.token };
    const remote = await here.addRemote(ann, { card_url, credential });
    const thread_id = await here.thread(ann, remote);
    await here.send(ann, thread_id, 'Hello');
    const threads = async () => (await there.get(principal, '/threads')).body.threads;
    await waitUntil(async () => (await threads()).length).toBe(1);
    const thread = (await threads())[0].id;

    /** Answers the last message of the other side once, and says whether the loop guard stopped it. */
    function answerer(service: typeof here, agent: typeof ann, in_thread: string) {
      const answered = new Set<string>();
      return async (): Promise<boolean> => {
        const last = (await service.messages(agent, in_thread)).at(-1);
        if (!last || last.sender.id === agent.id || answered.has(last.id)) return false;
        answered.add(last.id);
        const answer = await service.post(agent, `/threads/${in_thread}/messages`, { content: 'And you?' });
        expect([201, 429]).toContain(answer.status);
        return answer.status === 429;
      };
    }

    const [answerHere, answerThere] = [answerer(here, ann, thread_id), answerer(there, bob, thread)];
    const refusals = [false, false];
    await waitUntil(async () => {
      refusals[0] ||= await answerThere();
      refusals[1] ||= await answerHere();
      await here.pass(thread_id);
      return refusals.includes(true);
    }).toBe(true);
    // Which side is stopped depends on which one counts an answer first.
    expect(refusals.filter((isRefused) => isRefused)).toHaveLength(1);
    const lengths = async () => [
      (await here.messages(ann, thread_id)).length,
      (await there.messages(bob, thread)).length,
    ];
    await waitUntil(async () => new Set(await lengths()).size).toBe(1);
    // The first message, and one for each exchange; on a slow machine, some come too late to count.
    expect((await lengths())[0]).toBeLessThanOrEqual(2 * maxExchanges);
  },
);

test('an agent whose task never ends and always brings more gets the next messages of the thread', async () => {
  const service = await startInstallation({ env: { RATE_LIMITS: 'off' }, pacing: { turnMs: 20 } });
  onTestFinished(async () => void (await service.stop()));
  const { server, ann, remote } = await meetRemote(service, { hasPush: false });
  let count = 0;
  showTask(server, () =>
    buildTask(
      { artifacts: Array.from({ length: 500 }, () => artifact(`${(count += 1)}`)) },
      'TASK_STATE_COMPLETED',
    ),
  );
  const { thread_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(async () => (await service.messages(ann, thread_id)).length).toBeGreaterThan(50);
  await service.send(ann, thread_id, 'Stop.');
  await waitUntil(() => server.texts()).toEqual(['When?', 'Stop.']);
});
