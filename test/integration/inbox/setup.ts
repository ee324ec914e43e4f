import { expect } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { requestRest, type RestRequest } from '../../clients/rest.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

/** A lease as a claim answers it. */
export interface Lease {
  id: string;
  fencing_token: number;
  attempt: number;
  expires_at: number;
  relationship?: string;
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  event: any;
}

/** Calls of one agent on its inbox, through the API at this address. */
export function inboxOf(api: string, { token }: Pick<TestAgent, 'token'>) {
  const call = (method: string, path: string, request: RestRequest = {}) =>
    requestRest(method, `${api}/inbox${path}`, { token, ...request });
  const write = (lease: string, action: string, body: object = {}) =>
    call('POST', `/leases/${lease}/${action}`, { body });

  return {
    turnOn: (settings: object = {}) => call('PUT', '', { body: settings }),
    turnOff: () => call('DELETE', ''),
    get: () => call('GET', ''),
    claim: (request: object = {}) => call('POST', '/leases', { body: request }),
    /** The leases of a claim that succeeds. */
    async leases(request: object = {}): Promise<Lease[]> {
      const answer = await call('POST', '/leases', { body: request });
      expect([answer.status, answer.body?.error]).toEqual([200, undefined]);
      return answer.body.leases;
    },
    renew: (lease: string, lease_seconds = 60) => write(lease, 'renew', { lease_seconds }),
    acknowledge: (lease: string, body: object = {}, request: RestRequest = {}) =>
      call('POST', `/leases/${lease}/acknowledge`, { body, ...request }),
    acknowledgeAll: (ids: readonly string[]) => call('POST', '/leases:acknowledge', { body: { ids } }),
    release: (lease: string, body: object = {}) => write(lease, 'release', body),
    dead: (query = '') => call('GET', `/dead${query}`),
    redrive: (id: string) => call('POST', `/dead/${id}/redrive`),
    remove: (id: string) => call('DELETE', `/dead/${id}`),
  };
}

/** The texts of leased messages. */
export const textsOf = (leases: readonly Lease[]): string[] => leases.map(({ event }) => event.data.content);

/** Makes the leases of an agent expire now, as if their time had passed. */
export async function expireLeases({ core }: Pick<TestService, 'core'>, { id }: TestAgent): Promise<void> {
  const text = `update inbox_items set expires_at = $2 where agent_id = $1 and state = 'leased'`;
  await core.database.query({ text }, [id, Date.now() - 1]);
}

/** Two agents with a thread: the first one asks, the second one has its inbox on. */
export async function startWork(service: TestService, settings: object = {}) {
  const [asker, worker] = await Promise.all([service.agent(), service.agent()]);
  const inbox = inboxOf(service.api, worker);
  expect((await inbox.turnOn(settings)).status).toBe(200);
  const openThread = async () => {
    return service.thread(asker, worker);
  };
  const thread = await openThread();
  const send = async (content: string, thread_id = thread, { token } = asker) => {
    const sent = await service.post({ token }, `/threads/${thread_id}/messages`, { content });
    expect(sent.status).toBe(201);
    return sent.body;
  };
  return { asker, worker, inbox, thread, openThread, send };
}

/** A client as a model has it; `tool` calls a tool. */
export async function connectModel(service: TestService, { handle }: Pick<TestAgent, 'handle'>) {
  const token = await service.token(handle, { audience: 'mcp' });
  const { client, close } = await connectSdkClient(service.url, token);
  const tool = async (name: string, args: object = {}) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    const [{ text }] = result.content as [{ text: string }];
    return { isError: result.isError === true, value: JSON.parse(text) };
  };
  return { tool, close };
}
