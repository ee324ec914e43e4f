import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { backends, buildAgent } from '../../support/service.ts';
import { inboxOf, type Lease } from '../../integration/inbox/setup.ts';

const threads = 12;
const messagesPerThread = 8;
const instances = 8;

interface Handling {
  fencing_token: number;
  thread_id: string;
  sequence: number;
  /** Places in the log of the test: when the claim was answered, and when the acknowledgement was sent. */
  from: number;
  until: number;
}

test.each(backends)(
  'instances at two API processes never hold one thread at a time, and handle each message once, in order (%s)',
  async (backend) => {
    const cluster = await startTestCluster(backend);
    const apis = await Promise.all([cluster.startApi(), cluster.startApi(), cluster.startWorker()]);
    const urls = apis.slice(0, 2).map(({ url }) => `${url}/v1`);
    const urlOf = (place: number): string => urls[place % 2] ?? '';
    const [asker, agent] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
    expect((await inboxOf(urlOf(0), agent).turnOn({ max_attempts: 100 })).status).toBe(200);

    const handled: Handling[] = [];
    let clock = 0;
    const isDone = () => new Set(handled.map(keyOf)).size === threads * messagesPerThread;

    async function work(place: number): Promise<void> {
      const inbox = inboxOf(urlOf(place), agent);
      while (!isDone()) {
        const leases = await inbox.leases({ max: 3, wait_seconds: 1, consumer: `instance-${place}` });
        const from = (clock += 1);
        await pause(Math.random() * 5);
        // Some are given back, as by an instance that fails.
        const [first, ...others] = leases;
        if (first && Math.random() < 0.1) {
          await inbox.release(first.id, { reason: 'failed' });
          await acknowledge(inbox, others, from);
        } else await acknowledge(inbox, leases, from);
      }
    }

    async function acknowledge(
      inbox: ReturnType<typeof inboxOf>,
      leases: readonly Lease[],
      from: number,
    ): Promise<void> {
      if (leases.length === 0) return;
      const until = (clock += 1);
      const { body } = await inbox.acknowledgeAll(leases.map(({ id }) => id));
      for (const [at, { result }] of body.results.entries()) {
        expect(result).toBe('acknowledged');
        const { fencing_token, event } = leases[at] as Lease;
        const { thread_id, sequence } = event.data;
        handled.push({ fencing_token, thread_id, sequence, from, until });
      }
    }

    async function ask(place: number): Promise<void> {
      const { token } = asker;
      const body = { participants: [agent.handle] };
      const created = await requestRest('POST', `${urlOf(place)}/threads`, { token, body });
      for (let sent = 0; sent < messagesPerThread; sent += 1) {
        const url = `${urlOf(place + sent)}/threads/${created.body.id}/messages`;
        const answer = await requestRest('POST', url, { token, body: { content: `question ${sent}` } });
        expect(answer.status).toBe(201);
      }
    }

    const places = (count: number) => Array.from({ length: count }, (_, place) => place);
    await Promise.all([...places(threads).map(ask), ...places(instances).map(work)]);

    expect(handled).toHaveLength(threads * messagesPerThread);
    expect(new Set(handled.map(({ fencing_token }) => fencing_token)).size).toBe(handled.length);
    for (const thread of new Set(handled.map(({ thread_id }) => thread_id))) {
      const items = handled.filter(({ thread_id }) => thread_id === thread);
      const byToken = items.toSorted((a, b) => a.fencing_token - b.fencing_token);
      expect(byToken.map(({ sequence }) => sequence)).toEqual(
        places(messagesPerThread).map((place) => place + 1),
      );
      for (const [at, { from }] of byToken.entries()) {
        // The answer of a claim can overtake that of the acknowledgement before it, but not its request.
        expect(from).toBeGreaterThan(byToken[at - 1]?.until ?? 0);
      }
    }
    const after = await inboxOf(urlOf(1), agent).get();
    expect(after.body).toMatchObject({ ready: 0, leased: 0, dead: 0 });
    expect(after.body.consumers).toHaveLength(instances);
  },
);

function keyOf({ thread_id, sequence }: Handling): string {
  return `${thread_id} ${sequence}`;
}
