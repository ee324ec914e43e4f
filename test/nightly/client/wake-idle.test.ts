import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '../../../packages/client/src/node/main.ts';
import { fakeService } from '../../../packages/client/src/testing/fake-service.ts';
import { startAm, tokenEnv } from '../../clients/am.ts';
import { stopAfterTest } from '../../support/use.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => void vi.useRealTimers());

const hourMs = 3_600_000;
/** Shorter than the time between two pings, so that the answer to a ping arrives between two steps. */
const stepMs = 10_000;

/** `am wake` beside an agent that has a thread with another one, and a clock for both ends. */
async function startWaking() {
  const service = stopAfterTest(await fakeService());
  const [ann, bob] = [service.agent('acme.ann'), service.agent('globex.bob')];
  const [asAnn, asBob] = [ann, bob].map(({ token }) => createClient({ url: service.url, auth: token }));
  if (!asAnn || !asBob) throw new Error('no clients');
  const { id: thread_id } = await asAnn.threads.create({ with_handle: bob.handle });
  const env = await tokenEnv(service.url, bob.token);
  const waking = stopAfterTest(
    startAm(['wake', '--agent-harness', 'command', '--exec', 'true', '--json'], { env }),
  );
  const isConnected = async () => (await asAnn.agents.get({ agent_ref: bob.handle })).is_online;
  await expect.poll(isConnected).toBe(true);
  return {
    service,
    asAnn,
    asBob,
    thread_id,
    waking,
    /** Passes an hour. `act` is called before each step of it. */
    async passHour(act: (step: number) => Promise<unknown> | undefined): Promise<void> {
      for (let step = 0; step * stepMs < hourMs; step += 1) {
        await act(step);
        service.clock.advance(stepMs);
        await vi.advanceTimersByTimeAsync(stepMs);
        // A round trip lets the sockets of this process do their work.
        await asAnn.agents.getMe();
      }
    },
  };
}

test('an hour with lost connections and events, but without mail, starts no turn', async () => {
  const { service, asAnn, asBob, thread_id, waking, passHour } = await startWaking();
  let connections = 0;
  await passHour(async (step) => {
    if (step % 30 === 0) {
      service.disconnect();
      connections += 1;
    }
    if (step % 30 === 10) {
      const { sequence } = await asBob.messages.send({ thread_id, content: 'my own message' });
      await asAnn.threads.markRead({ thread_id, up_to_sequence: sequence });
    }
    if (step % 30 === 20) await asAnn.threads.update({ thread_id, subject: `Step ${step}` });
  });
  expect(connections).toBe(12);
  expect([waking.out(), waking.err()]).toEqual(['', '']);
  await asAnn.messages.send({ thread_id, content: 'mail' });
  // The client may wait before it connects again.
  await expect
    .poll(async () => {
      await vi.advanceTimersByTimeAsync(stepMs);
      return waking.lines();
    })
    .toMatchObject([{ type: 'wake', messages: 1, threads: 1, requests: 0 }]);
});

test('mail that stays unread starts one turn, and none in the next hour', async () => {
  const { service, asAnn, thread_id, waking, passHour } = await startWaking();
  await asAnn.messages.send({ thread_id, content: 'mail' });
  await passHour(async (step) => (step % 30 === 29 ? service.disconnect() : undefined));
  expect(waking.lines()).toMatchObject([{ type: 'wake', messages: 1 }]);
  await asAnn.messages.send({ thread_id, content: 'more' });
  await passHour(async () => undefined);
  expect(waking.lines()).toMatchObject([{ messages: 1 }, { messages: 2 }]);
});
