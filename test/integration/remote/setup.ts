import { expect } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { createPostingJob } from '../../../src/jobs/posting.ts';
import { type FeedEvent, followFeed } from '../../clients/feed.ts';
import { findFreePort } from '../../support/free-port.ts';
import {
  type RemoteServer,
  type RemoteServerOptions,
  startRemoteServer,
} from '../../support/a2a/remote-server.ts';
import {
  type AgentOptions,
  type ServiceOptions,
  startService,
  type TestAgent,
} from '../../support/service.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { fastPacing, waitUntil } from '../webhooks/setup.ts';

/** A remote agent, as an agent of its owner reaches it. */
export interface AddedRemote {
  id: string;
  handle: string;
}

const loopback = '127.0.0.0/8';

/** A whole installation at the address that it announces, with a worker whose attempts follow quickly. Other systems can be on this machine. */
export async function startInstallation({
  env,
  port: fixedPort,
  pacing,
  ...options
}: Omit<ServiceOptions, 'settings'> & { port?: number } = {}) {
  const port = fixedPort ?? (await findFreePort());
  const service = await startService({
    ...options,
    pacing: { ...fastPacing, ...pacing },
    env: {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      REMOTE_AGENTS: 'true',
      REMOTE_NETWORKS: loopback,
      REMOTE_CONFIRM: 'none',
      WEBHOOK_NETWORKS: loopback,
      ...env,
    },
  });

  /** The record of a remote agent. */
  const readRemote = async (by: TestAgent, id: string) =>
    (await service.get(by, `/remote-agents/${id}`)).body;

  /** Adds a remote agent. `isReady`: waits until messages are sent to it. */
  async function addRemote(
    by: TestAgent,
    remote: { card_url: string; handle?: string; credential?: object },
    { isReady = true } = {},
  ): Promise<AddedRemote> {
    const { status, text, body } = await service.post(by, '/remote-agents', remote);
    expect(status, text).toBe(201);
    if (isReady) await waitUntil(async () => (await readRemote(by, body.id)).state).toBe('ready');
    return { id: body.id, handle: body.canonical_handle };
  }

  return {
    ...service,
    readRemote,
    addRemote,
    /** An agent whose token has all scopes. */
    agent: (agent?: AgentOptions) => service.agent({ scopes, ...agent }),
    /** Asks an agent, and does not wait for the answer. */
    async ask(
      by: TestAgent,
      to: { handle: string } | { thread_id: string },
      content: string,
      fields: object = {},
    ): Promise<Asked> {
      const target = 'handle' in to ? { with_handle: to.handle } : { thread_id: to.thread_id };
      const body = { ...target, content, wait_seconds: 0, ...fields };
      const answer = await service.post(by, '/threads/ask', body);
      expect(answer.status, answer.text).toBe(201);
      const { message, task } = answer.body;
      return { thread_id: message.thread_id, message_id: message.id, task_id: task.id };
    },
    async send(by: TestAgent, thread_id: string, content: string, fields: object = {}) {
      const answer = await service.post(by, `/threads/${thread_id}/messages`, { content, ...fields });
      expect(answer.status, answer.text).toBe(201);
      return answer.body as { id: string; sequence: number };
    },
    /** Pauses or resumes an agent. */
    async pause(agent: TestAgent, paused: boolean) {
      const { status, text } = await service.patch(agent, `/agents/${agent.id}`, { paused });
      expect(status, text).toBe(200);
    },
    readTask: async (by: TestAgent, id: string) => (await service.get(by, `/tasks/${id}`)).body,
    /** All messages of a thread, oldest first. */
    async messages(by: TestAgent, thread_id: string): Promise<ReadMessage[]> {
      const { body, text } = await service.get(by, `/threads/${thread_id}/messages?order=asc&limit=100`);
      expect(body?.messages, text).toBeDefined();
      return body.messages;
    },
    /** The marks of a remote agent in a thread. */
    async marks(by: TestAgent, thread_id: string, { id }: { id: string }) {
      const { body } = await service.get(by, `/threads/${thread_id}/receipts`);
      const found = body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === id);
      return {
        delivered: found.delivered_up_to_sequence as number,
        read: found.read_up_to_sequence as number,
        handled: found.handled_up_to_sequence as number,
      };
    },
    /** From now on: the events of a type that the agent gets. */
    async follow({ token }: TestAgent, type: string) {
      const read = await followFeed(service.api, token);
      const seen: FeedEvent[] = [];
      return async () => {
        seen.push(...(await read()).filter((event) => event.type === type));
        return seen.map(({ data }) => data);
      };
    },
    /** No worker has the thread until `pass`. */
    async holdThread(thread_id: string): Promise<void> {
      const held =
        'update remote_threads set next_at = $2 where thread_id = $1 and lease_state is null returning 1';
      const hour = Date.now() + 3_600_000;
      await waitUntil(async () => (await service.sql(held, [thread_id, hour])).length).toBe(1);
    },
    /** Moves the clock to the next attempt, after a turn that is under way, and to the next time when the tasks of a thread are read. */
    async pass(thread_id: string): Promise<void> {
      const now = Date.now();
      const values = [thread_id, now];
      await service.sql(
        `update remote_tasks set poll_at = $2 where thread_id = $1 and poll_at is not null`,
        values,
      );
      await service.sql(
        `update remote_threads set next_at = case when lease_state is null then least(next_at, $2) else next_at end,
           lease_state = case when lease_state is not null and next_at > $2 then 'recalled' end,
           poll_at = least((select min(poll_at) from remote_tasks where thread_id = $1),
             (select min(created_at) from remote_withdrawals where thread_id = $1)) where thread_id = $1`,
        values,
      );
      await service.core.queues.enqueue([createPostingJob(thread_id, now)]);
    },
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** What a question returns. */
export interface Asked {
  thread_id: string;
  message_id: string;
  task_id: string;
}

export interface ReadMessage {
  id: string;
  sequence: number;
  sender: { id: string; canonical_handle: string };
  content: string;
  content_type: string;
  reply_to: string | null;
  attachments: { id: string; filename: string; content_type: string; size_bytes: number }[];
}

/** An installation for the tests of one file. */
export const useInstallation = (options?: Parameters<typeof startInstallation>[0]): Installation =>
  use(() => startInstallation(options));

/** Starts a server of the A2A project for one test, and adds its agent as a contact of a new agent. */
export async function meetRemote(
  service: Installation,
  options: RemoteServerOptions & { credential?: object } = {},
) {
  const { credential, ...serverOptions } = options;
  const server = stopAfterTest(await startRemoteServer(serverOptions));
  const ann = await service.agent();
  const remote = await service.addRemote(ann, {
    card_url: server.cardUrl,
    ...(credential && { credential }),
  });
  return { server, ann, remote };
}

/** The contents of messages, with whether the agent sent them. */
export const storyOf = (messages: readonly ReadMessage[], agent: { id: string }): string[] =>
  messages.map(({ sender, content }) => `${sender.id === agent.id ? 'here' : 'there'}: ${content}`);

/** A task as a server writes it. */
export const buildTask = (fields: object = {}, state = 'TASK_STATE_WORKING') => ({
  id: 'task-1',
  contextId: 'context-1',
  status: { state, timestamp: new Date().toISOString() },
  ...fields,
});

export const artifact = (artifactId: string, text = artifactId) => ({ artifactId, parts: [{ text }] });

/** All tasks of the server are this one from now on. */
export function showTask(server: RemoteServer, toTask: () => object): void {
  server.answer('SendMessage', () => ({ task: buildTask({}, 'TASK_STATE_SUBMITTED') }));
  server.answer('GetTask', toTask);
}
