import { expect } from 'vitest';
import { startApi } from '../../../../src/api.ts';
import { compose } from '../../../../src/compose.ts';
import { createLifecycle } from '../../../../src/start/lifecycle.ts';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import {
  allTestScopes,
  type ServiceOptions,
  startService,
  type TestAgent,
  type TestService,
} from '../../../support/service.ts';
import { use } from '../../../support/use.ts';

/** Two API processes of one service, each with a core of its own. */
export interface TwoProcesses {
  service: TestService;
  /** The addresses of the processes. */
  apis: readonly [string, string];
  /** While `run` runs, the bus loses everything that the second process publishes. */
  withoutBus(run: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

async function startTwoProcesses(options: ServiceOptions = {}): Promise<TwoProcesses> {
  const service = await startService({
    worker: false,
    ...options,
    env: { SEND_CONTEXT: 'on', ...options.env },
  });
  const core = compose(service.core.config, 'second');
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(core, lifecycle);
  return {
    service,
    apis: [service.api, `http://127.0.0.1:${port}/v1`],
    async withoutBus(run) {
      const { publish } = core.bus;
      core.bus.publish = () => Promise.resolve();
      try {
        await run();
      } finally {
        core.bus.publish = publish;
      }
    },
    async stop() {
      await lifecycle.stop('the test is over');
      await service.stop();
    },
  };
}

/** Starts two processes for the tests of a suite. */
export function useTwoProcesses(options: ServiceOptions = {}): () => TwoProcesses {
  const processes = use(() => startTwoProcesses(options));
  return () => processes;
}

/** An agent of a new owner that can change its own policies. */
export const createAgent = ({ service }: Pick<TwoProcesses, 'service'>): Promise<TestAgent> =>
  service.agent({ scopes: [...allTestScopes, 'agents:write'] });

export interface StoredMessage {
  id: string;
  content: string;
  sequence: number;
  sender: { id: string };
}

export interface SendOptions {
  api?: string;
  key?: string | undefined;
  body?: object;
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Rows for `each`, which shortens the names of objects. */
export const named = <Row extends { name: string }>(rows: readonly Row[]) =>
  rows.map((row) => [row.name, row] as const);

export interface TestThread {
  id: string;
  send(by: TestAgent, options?: SendOptions): Promise<RestResponse>;
  call(method: string, path: string, by: TestAgent, body?: object, api?: string): Promise<RestResponse>;
  /** All members send 4 messages each, in turn. */
  warmUp(members: readonly TestAgent[]): Promise<void>;
  /** All messages in their order, with sequences from 1 on without a gap. */
  list(by: TestAgent): Promise<StoredMessage[]>;
}

/** A thread that the first agent opens. Calls go to the first process unless they name another address. */
export async function openThread(
  { apis }: Pick<TwoProcesses, 'apis'>,
  [creator, ...others]: readonly [TestAgent, ...TestAgent[]],
): Promise<TestThread> {
  const participants = others.map(({ handle }) => handle);
  const created = await requestRest('POST', `${apis[0]}/threads`, {
    token: creator.token,
    body: { participants },
  });
  expect(created.status, created.text).toBe(201);
  const id: string = created.body.id;
  const thread: TestThread = {
    id,
    send: ({ token }, { api = apis[0], key, body = { content: 'hello' } } = {}) =>
      requestRest('POST', `${api}/threads/${id}/messages`, {
        token,
        body,
        ...(key !== undefined && { key }),
      }),
    call: (method, path, { token }, body, api = apis[0]) =>
      requestRest(method, `${api}/threads/${id}${path}`, { token, body }),
    async warmUp(members) {
      for (let round = 0; round < 4; round += 1) {
        for (const member of members) expect((await thread.send(member)).status).toBe(201);
      }
    },
    async list(by) {
      const messages: StoredMessage[] = [];
      for (;;) {
        const page = await thread.call(
          'GET',
          `/messages?order=asc&limit=100&after_sequence=${messages.length}`,
          by,
        );
        expect(page.status, page.text).toBe(200);
        if (page.body.messages.length === 0) break;
        messages.push(...page.body.messages);
      }
      expect(messages.map(({ sequence }) => sequence)).toEqual(times(messages.length, (at) => at + 1));
      return messages;
    },
  };
  return thread;
}

/** Two members of a thread that ann opened. */
export interface ThreadOfTwo {
  ann: TestAgent;
  bob: TestAgent;
  thread: TestThread;
}

export async function createThreadOfTwo(processes: TwoProcesses): Promise<ThreadOfTwo> {
  const [ann, bob] = await Promise.all([createAgent(processes), createAgent(processes)]);
  return { ann, bob, thread: await openThread(processes, [ann, bob]) };
}

/** Both members have sent 4 messages. */
export async function createWarmThread(processes: TwoProcesses): Promise<ThreadOfTwo> {
  const pair = await createThreadOfTwo(processes);
  await pair.thread.warmUp([pair.ann, pair.bob]);
  return pair;
}
