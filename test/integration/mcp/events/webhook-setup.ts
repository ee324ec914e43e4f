import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect } from 'vitest';
import { startApi } from '../../../../src/api.ts';
import { compose, type Core } from '../../../../src/compose.ts';
import { loadConfig } from '../../../../src/config.ts';
import { createCredential } from '../../../../src/services/auth/credentials.ts';
import { createLifecycle } from '../../../../src/start/lifecycle.ts';
import { startWorker } from '../../../../workers/start.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { requestRest } from '../../../clients/rest.ts';
import {
  allTestScopes,
  buildAgent,
  createTestSettings,
  issueTokenFor,
  type TestAgent,
} from '../../../support/service.ts';
import { fastPacing } from '../../webhooks/setup.ts';
import { listen } from '../../../support/servers/listen.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

export interface Post {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  json: Json;
}

/** A receiver that answers challenges and accepts everything, until it is told otherwise. */
async function startReceiver() {
  const posts: Post[] = [];
  const state = {
    answer: (response: ServerResponse, _post: Post): void => void response.writeHead(204).end(),
    answersChallenges: true,
  };
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const post = { path: request.url ?? '', headers: request.headers, text: body, json: JSON.parse(body) };
    posts.push(post);
    if (post.json.type === 'verification' && state.answersChallenges)
      response.end(JSON.stringify({ challenge: post.json.challenge }));
    else state.answer(response, post);
  }
  const server = createServer((request, response) => void receive(request, response));
  return {
    ...(await listen(server)),
    state,
    /** Requests to this path, without challenges. */
    at: (path: string) => posts.filter((post) => post.path === path && post.json.type !== 'verification'),
    challengesAt: (path: string) =>
      posts.filter((post) => post.path === path && post.json.type === 'verification'),
  };
}

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Whether a receiver with this secret accepts the request. */
export function isSignedBy(secret: string, { text: body, headers }: Post): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

let count = 0;

/** A service with a worker whose subscriptions may reach this machine, and a receiver. */
export function useEventWebhooks(env: Record<string, string> = {}) {
  let core: Core;
  let url: string;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  const lifecycles: ReturnType<typeof createLifecycle>[] = [];

  beforeAll(async () => {
    const settings = await createTestSettings('postgres');
    const config = loadConfig({
      ...settings.env,
      WEBHOOK_NETWORKS: '127.0.0.0/8',
      EVENTS_HOLD_SECONDS: '0',
      ...env,
    });
    core = compose(config, 'test');
    const lifecycle = createLifecycle(core.logger);
    lifecycles.push(lifecycle);
    lifecycle.onStop('settings', 20_000, settings.release);
    url = `http://127.0.0.1:${(await startApi(core, lifecycle)).port}`;
    receiver = await startReceiver();
    lifecycle.onStop('receiver', 5_000, async () => receiver.close());
    await startWorker(compose(config, 'test-worker'), lifecycle, fastPacing);
  });
  afterAll(async () => {
    for (const lifecycle of lifecycles) await lifecycle.stop('the test is over');
  });

  const call = (token: string, method: string, params: Record<string, unknown>, capabilities = {}) =>
    askStateless(url, token, { method, params, capabilities });

  return {
    get core() {
      return core;
    },
    get url() {
      return url;
    },
    get receiver() {
      return receiver;
    },
    call,
    /** A token for /mcp. */
    token: (agent: TestAgent) => issueTokenFor(core, agent.handle, { audience: 'mcp' }),
    /** A token for /mcp of a new credential of the agent. */
    async credentialToken(agent: TestAgent) {
      const { client_id } = await core.unitOfWork.write(system, (work) =>
        createCredential(work, { handle: agent.handle, scopes: allTestScopes }),
      );
      const token = await issueTokenFor(core, agent.handle, { audience: 'mcp' });
      const update = { text: 'update access_tokens set client_id = $2 where token_hash = $1' };
      await core.database.query(update, [createHash('sha256').update(token).digest(), client_id]);
      return token;
    },
    /** Two agents with a thread; `say` sends a message to the first one. */
    async pair() {
      const [reader, writer] = [await buildAgent(core), await buildAgent(core)];
      const token = await issueTokenFor(core, reader.handle, { audience: 'mcp' });
      const thread = await requestRest('POST', `${url}/v1/threads`, {
        token: writer.token,
        body: { with_handle: reader.handle },
      });
      const path = `${url}/v1/threads/${thread.body.id}/messages`;
      const say = async (content: string) => {
        const sent = await requestRest('POST', path, { token: writer.token, body: { content } });
        expect(sent.status).toBe(201);
      };
      return { reader, writer, token, thread_id: String(thread.body.id), say };
    },
    /** Parameters of a subscription to messages at an unused path of the receiver. */
    target(changes: Record<string, unknown> = {}) {
      const path = `/${(count += 1)}`;
      const secret = newSecret();
      const delivery = { mode: 'webhook', url: `${receiver.url}${path}`, secret };
      return { path, secret, params: { name: 'message.created', cursor: null, delivery, ...changes } };
    },
    /** Subscribes. @throws {Error} with the error of the answer. */
    async subscribe(token: string, params: Record<string, unknown>, capabilities = {}): Promise<Json> {
      const { result, error } = await call(token, 'events/subscribe', params, capabilities);
      if (!result) throw new Error(JSON.stringify(error));
      return result;
    },
    /** The state of a subscription. */
    async row(id: string): Promise<Json> {
      const statement = { text: 'select * from event_subscriptions where id = $1' };
      return (await core.database.query(statement, [id]))[0];
    },
    /** The contents, or else the types, of the events at this path. */
    contents: (path: string) => receiver.at(path).map(({ json }) => json.data?.content ?? json.type),
    query: (statement: string, values: readonly unknown[]) =>
      core.database.query({ text: statement }, values),
  };
}
