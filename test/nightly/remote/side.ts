import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { requestRest, type RestRequest, type RestResponse } from '../../clients/rest.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type ProxyAction, startHttpProxy } from '../../support/servers/http-proxy.ts';
import { buildAgent, issueTokenFor, type TestAgent } from '../../support/service.ts';
import { shiftedClock } from '../../support/shifted-clock.ts';

const loopback = '127.0.0.0/8';
/** One request in eight fails in one of these ways. */
const faults: readonly ProxyAction[] = ['cut', 'unanswered', 'double', 503];

export type Part = 'api' | 'worker';

/** An installation whose processes can be killed, behind a line that drops and doubles requests. */
export async function startSide(limits = 'off') {
  const port = await findFreePort();
  let line: ProxyAction | 'faulty' = 'pass';
  const proxy = await startHttpProxy(`http://127.0.0.1:${port}`, () => {
    if (line !== 'faulty') return line;
    return Math.random() < 0.125 ? (faults[Math.floor(Math.random() * faults.length)] ?? 'pass') : 'pass';
  });
  onTestFinished(() => proxy.close());
  const cluster = await startTestCluster('redis', {
    PORT: String(port),
    PUBLIC_URL: proxy.url,
    RATE_LIMITS: limits,
    REMOTE_AGENTS: 'true',
    REMOTE_NETWORKS: loopback,
    REMOTE_CONFIRM: 'none',
    WEBHOOK_NETWORKS: loopback,
  });
  const running: { [Name in Part]?: Awaited<ReturnType<typeof cluster.startApi>> } = {};
  let shiftMs = 0;

  async function start(part: Part): Promise<void> {
    const clock = part === 'worker' && shiftMs > 0 ? shiftedClock(shiftMs) : {};
    running[part] = await (part === 'api' ? cluster.startApi(clock) : cluster.startWorker(clock));
  }
  async function kill(part: Part): Promise<void> {
    await running[part]?.kill9();
  }
  const base = `http://127.0.0.1:${port}/v1`;

  const tokens = new Map<string, string>();

  /** Repeats a request until it is answered; the service is killed meanwhile. */
  async function request(
    method: string,
    path: string,
    { by, ...options }: RestRequest & { by: TestAgent },
  ): Promise<RestResponse> {
    const key = method === 'POST' ? randomUUID() : null;
    for (;;) {
      const token = tokens.get(by.id) ?? by.token;
      const answer = await requestRest(method, `${base}${path}`, { key, token, ...options }).catch(
        () => undefined,
      );
      if (answer?.status === 401) tokens.set(by.id, await issueTokenFor(cluster.core, by.handle, { scopes }));
      else if (answer && answer.status < 500 && answer.status !== 429) return answer;
      await pause(Number(answer?.headers.get('retry-after') ?? 0.1) * 1_000);
    }
  }

  return {
    cluster,
    start,
    kill,
    request,
    /** What the line of the other side does with each request. */
    setLine: (next: typeof line) => void (line = next),
    /** The clock of the worker: attempts that were put off are due. */
    async moveClock(ms: number): Promise<void> {
      shiftMs = ms;
      await kill('worker');
      await start('worker');
    },
    agents: (count: number) =>
      Promise.all(Array.from({ length: count }, () => buildAgent(cluster.core, { scopes }))),
    async send(by: TestAgent, thread_id: string, content: string, fields: object = {}): Promise<void> {
      const body = { content, ...fields };
      const answer = await request('POST', `/threads/${thread_id}/messages`, { by, body });
      expect(answer.status, answer.text).toBe(201);
    },
    async messages(by: TestAgent, thread_id: string): Promise<Stored[]> {
      const all: Stored[] = [];
      for (;;) {
        const after = all.at(-1)?.sequence ?? 0;
        const query = `order=asc&limit=100&after_sequence=${after}`;
        const { body } = await request('GET', `/threads/${thread_id}/messages?${query}`, { by });
        all.push(...body.messages);
        if (body.messages.length < 100) return all;
      }
    },
  };
}

export type Side = Awaited<ReturnType<typeof startSide>>;

export interface Stored {
  id: string;
  sequence: number;
  content: string;
  sender: { id: string };
}
