import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import {
  checkReplies,
  type Instance,
  readLog,
  readThread,
  startInstance,
} from '../../support/cluster/lease-work.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { backends, buildAgent } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

vi.setConfig({ testTimeout: 900_000 });

const extent = { threads: 200, messages: 10_000, kills: 90, killEveryMs: 2_000 };

const instanceCount = 8;

await describeWithRedis('eight instances of one agent', () => {
  test.each(backends)(
    'answer every message once and in order, while instances and API processes are killed (%s)',
    async (backend) => {
      const cluster = await startTestCluster(backend);
      const folder = await createFolder();
      const log = join(folder, 'log');
      const apis = await Promise.all([cluster.startApi(), cluster.startApi(), cluster.startApi()]);
      await cluster.startWorker();
      const [stable] = apis;
      const api = `${stable.url}/v1`;
      const [asker, shared] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
      const settings = { types: ['message.created'], max_attempts: 100, ordered_by_thread: true };
      const saved = await requestRest('PUT', `${api}/inbox`, { token: shared.token, body: settings });
      expect(saved.status).toBe(200);

      const instances: Instance[] = [];
      const addresses = () => apis.map(({ url }) => url);
      const start = (at: number) => {
        const name = `instance-${at}`;
        instances[at] = startInstance({ name, token: shared.token, log }, addresses());
      };
      for (let at = 0; at < instanceCount; at += 1) start(at);
      onTestFinished(async () => void (await Promise.all(instances.map((each) => each.kill9()))));

      const threads = await openThreads(api, asker.token, shared.handle);
      const asking = ask(api, asker.token, threads);
      for (let kill = 0; kill < extent.kills; kill += 1) {
        await pause(extent.killEveryMs);
        if (kill % 4 === 3) {
          // The first API process takes the questions, and is not killed.
          const at = 1 + (kill % 2);
          await apis[at]?.kill9();
          apis[at] = await cluster.startApi();
          for (const instance of instances) instance.use(addresses());
        } else {
          const at = (kill * 5) % instanceCount;
          await instances[at]?.kill9();
          start(at);
        }
      }
      await asking;
      const waitOptions = { timeout: 150_000, interval: 250 };
      await vi.waitFor(async () => {
        const { body } = await requestRest('GET', `${api}/inbox`, { token: shared.token });
        expect(body).toMatchObject({ ready: 0, leased: 0, dead: 0 });
      }, waitOptions);

      const read = async (id: string) => [id, await readThread(api, asker.token, id)] as const;
      const found = new Map(await Promise.all(threads.map(read)));
      const entries = readLog(log);
      const questions = [...found.values()].flat().filter(({ reply_to }) => reply_to === null).length;
      expect(questions).toBe(extent.messages);
      const lost = entries.answers.filter(({ status }) => status === 409).length;
      console.log(
        `leases: ${entries.claims.length} claimed for ${questions} messages, ${lost} lost to their holder`,
      );
      expect(checkReplies(found, entries)).toEqual({
        unanswered: 0,
        answered_twice: 0,
        out_of_order: 0,
        token_not_grown: 0,
        lost_after_success: 0,
        unexpected_statuses: 0,
        two_holders: 0,
      });
    },
  );
});

async function openThreads(api: string, token: string, handle: string): Promise<string[]> {
  const threads: string[] = [];
  while (threads.length < extent.threads) {
    const { status, text, body } = await requestRest('POST', `${api}/threads`, {
      token,
      body: { participants: [handle] },
    });
    expect(status, text).toBe(201);
    threads.push(body.id);
  }
  return threads;
}

/** Sends the questions, in rotation over the threads, while the kills last. */
async function ask(api: string, token: string, threads: readonly string[]): Promise<void> {
  const began = Date.now();
  const lastsMs = extent.kills * extent.killEveryMs;
  for (let sent = 0; sent < extent.messages; sent += threads.length) {
    const answers = await Promise.all(
      threads.map((thread) =>
        requestRest('POST', `${api}/threads/${thread}/messages`, {
          token,
          body: { content: `question ${sent / threads.length}` },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status !== 201).map(({ text }) => text)).toEqual([]);
    await pause(Math.max(0, began + ((sent + threads.length) / extent.messages) * lastsMs - Date.now()));
  }
}
