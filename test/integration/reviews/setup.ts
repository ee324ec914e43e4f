import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { OutgoingPolicy } from '../../../packages/core/src/domain/agents/agents.ts';
import { setOutgoingPolicy } from '../../../src/services/agents/outgoing-policy.ts';
import { decideApproval, type ReviewDetails } from '../../../src/services/approvals/decide.ts';
import type { RestRequest } from '../../clients/rest.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

/** The id of the review that a held call names. */
export const idOf = ({ body }: { body: { error: { approval: { id: string } } } }): string =>
  body.error.approval.id;

/** Reviews of what agents send, through the API of this service. */
export function reviewsOf(service: TestService) {
  const setPolicy = (agent: Pick<TestAgent, 'id'>, policy: OutgoingPolicy) =>
    service.write((work) => setOutgoingPolicy(work, agent, policy));
  /** An agent with this policy, and an agent of another owner. */
  const pair = async (policy: OutgoingPolicy): Promise<[mine: TestAgent, stranger: TestAgent]> => {
    const [mine, stranger] = await Promise.all([service.agent(), service.agent()]);
    await setPolicy(mine, policy);
    return [mine, stranger];
  };
  return {
    setPolicy,
    pair,
    /** Makes a token one of an app that a person has connected. */
    async connectAsPerson({ id }: TestAgent, token: string): Promise<void> {
      const grant = `grt_${id}`;
      await service.sql(
        `insert into client_grants (grant_id, account_id, agent_id, client_id, client_name, redirect_host, scopes, created_at, expires_at)
         select $1, a.owner_id, a.id, 'some-app', 'Some app', 'localhost', '{}', 0, $3 from agents a where a.id = $2`,
        [grant, id, Date.now() + 3_600_000],
      );
      const hash = createHash('sha256').update(token).digest();
      await service.sql('update access_tokens set grant_id = $1 where token_hash = $2', [grant, hash]);
    },
    /** The same, with a thread that the other agent has opened. */
    async conversation(policy: OutgoingPolicy) {
      const [mine, stranger] = await pair(policy);
      return { mine, stranger, thread: await service.thread(stranger, mine) };
    },
    /** Another agent of the same owner. */
    async kinOf({ handle }: TestAgent): Promise<TestAgent> {
      const [owner] = handle.split('.');
      return service.register({ handle: `${owner}.kin`, visibility: 'public', inbound_policy: 'open' });
    },
    send: (from: TestAgent, thread: string, fields: object = {}, request: RestRequest = {}) =>
      service.post(from, `/threads/${thread}/messages`, { content: 'May it leave?', ...fields }, request),
    approve: (id: string, details: ReviewDetails = {}) =>
      service.write((work) => decideApproval(work, id, 'approved', { via: 'operator', ...details })),
    deny: (id: string, reason?: string) =>
      service.write((work) => decideApproval(work, id, 'denied', { via: 'operator', reason })),
    /** The approvals of an agent that wait, oldest first. */
    pending: ({ id }: TestAgent) =>
      service.sql<{ id: string; action: string; message: string; recipients: string[] }>(
        `select id, action, message, recipients from approvals where agent_id = $1 and state = 'pending' order by id`,
        [id],
      ),
    contents: async (viewer: TestAgent, thread: string): Promise<string[]> => {
      const { status, body } = await service.get(viewer, `/threads/${thread}/messages?order=asc`);
      expect(status).toBe(200);
      return body.messages.map(({ content }: { content: string }) => content);
    },
    /** Everything that an agent can notice: its events, threads, contact requests and pending items. */
    async noticed(viewer: TestAgent): Promise<unknown> {
      const paths = ['/events?cursor=earliest', '/threads', '/contacts/requests', '/tasks'];
      const answers = await Promise.all(paths.map((path) => service.get(viewer, path)));
      const seen = answers.map(({ body }) => [body.events, body.threads, body.requests, body.tasks]);
      // That the other agent is active shows whatever it does.
      return JSON.parse(
        JSON.stringify(seen).replaceAll(/"agent_last_seen_at":\w+/g, '"agent_last_seen_at":0'),
      );
    },
  };
}
