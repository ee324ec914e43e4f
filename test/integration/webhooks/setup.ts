import { afterAll, beforeAll, expect } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose, type Core } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { scopes as allScopes, type Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { defaultPacing, type WebhookPacing } from '../../../packages/core/src/domain/webhooks.ts';
import type { Logger } from '../../../src/platform/observability/logger.ts';
import { untraced } from '../../../src/platform/observability/tracing.ts';
import { createWebhookSender } from '../../../src/platform/outbound/webhook-sender.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { startWorker } from '../../../workers/start.ts';
import { requestRest, type RestResponse } from '../../clients/rest.ts';
import {
  type Backend,
  buildAgent,
  type TestAgent,
  createTestSettings,
  issueTokenFor,
} from '../../support/service.ts';
import { type WebhookReceiver, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';

/** The usual retry pacing, within a second. */
export const fastPacing: WebhookPacing = {
  ...defaultPacing,
  scheduleMs: [0, 20, 40],
  remoteScheduleMs: [0, 20, 40],
  jitter: 0,
  backoffMs: 10,
  maxBackoffMs: 20,
  graceMs: 0,
};

/** Waits until the value is as expected, also on a busy machine. */
export const waitUntil = <T>(read: () => T) => expect.poll(read, { interval: 25 });

interface WebhookSetupOptions {
  backend?: Backend;
  pacing?: Partial<WebhookPacing>;
  /** The timeout of the worker for a receiver, in milliseconds. */
  timeoutMs?: number;
  /** False: the posts are not webhooks of the AsyncAPI document. */
  isDescribed?: boolean;
  /** Of the API and the worker. */
  logger?: Logger;
  /** Overrides parts of the worker's core. */
  worker?(core: Core): Core;
}

/** A service whose webhooks may reach this machine, for the tests of one file, and a receiver of posts. */
export function useWebhooks(options: WebhookSetupOptions = {}) {
  let core: Core;
  let api: string;
  let url: string;
  let receiver: WebhookReceiver;
  const lifecycles: ReturnType<typeof createLifecycle>[] = [];

  beforeAll(async () => {
    const settings = await createTestSettings(options.backend ?? 'postgres');
    const config = loadConfig({ ...settings.env, WEBHOOK_NETWORKS: '127.0.0.0/8' });
    const overrides = options.logger ? { logger: options.logger } : {};
    core = compose(config, 'test', untraced, overrides);
    const lifecycle = createLifecycle(core.logger);
    lifecycles.push(lifecycle);
    lifecycle.onStop('settings', 20_000, settings.release);
    const { port } = await startApi(core, lifecycle);
    url = `http://127.0.0.1:${port}`;
    api = `${url}/v1`;
    receiver = await startWebhookReceiver({ isDescribed: options.isDescribed ?? true });
    lifecycle.onStop('receiver', 5_000, () => receiver.close());
    const created = compose(config, 'test-worker', untraced, overrides);
    const webhookSender = createWebhookSender({
      networks: config.WEBHOOK_NETWORKS,
      timeoutMs: options.timeoutMs ?? 20_000,
      userAgent: 'test',
    });
    const worker = { ...created, settings: { ...created.settings, webhookSender } };
    const pacing = { ...fastPacing, ...options.pacing };
    await startWorker(options.worker?.(worker) ?? worker, lifecycle, pacing);
  });
  afterAll(async () => {
    for (const lifecycle of lifecycles) await lifecycle.stop('the test is over');
  });

  const call = (
    method: string,
    path: string,
    token: string,
    body?: object,
    key?: string,
  ): Promise<RestResponse> =>
    requestRest(method, `${api}${path}`, { token, ...(body && { body }), ...(key !== undefined && { key }) });

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
    /** An agent of a new owner. By default its token has all scopes. */
    agent: (scopes: readonly Scope[] = allScopes): Promise<TestAgent> => buildAgent(core, { scopes }),
    token: (handle: string, scopes: readonly Scope[]) => issueTokenFor(core, handle, { scopes }),
    /** A webhook to an unused path of the receiver, with its secret. */
    async webhook({ token }: Pick<TestAgent, 'token'>, settings: object = {}): Promise<TestWebhook> {
      const path = `/${(count += 1)}`;
      const created = await call('POST', '/webhooks', token, { url: `${receiver.url}${path}`, ...settings });
      expect(created.status).toBe(201);
      return { ...created.body, path };
    },
    /** Sends the agent a first message in a new thread, which are two events. */
    async sendMessageTo(to: TestAgent, content = 'Hello'): Promise<{ thread_id: string; from: TestAgent }> {
      const from = await buildAgent(core, { scopes: allScopes });
      const created = await call('POST', '/threads', from.token, {
        with_handle: to.handle,
        initial_message: content,
      });
      expect(created.status).toBe(201);
      return { thread_id: created.body.id, from };
    },
    deliveries: async ({ token }: TestAgent, { id }: Pick<TestWebhook, 'id'>, query = '') =>
      (await call('GET', `/webhooks/${id}/deliveries${query}`, token)).body.deliveries as DeliveryEntry[],
  };
}

let count = 0;

export interface TestWebhook {
  id: string;
  secret: string;
  url: string;
  path: string;
}

export interface DeliveryEntry {
  id: string;
  event_type: string;
  state: string;
  attempts: number;
  next_at: number | null;
  last_status: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  last_response: string | null;
}
