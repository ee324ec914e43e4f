import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addAgent, ownerOf, toAgentId } from './operations/agents.ts';
import { decideApproval, openApproval } from './operations/approvals.ts';
import { answerBlob } from './transports/blobs.ts';
import { createClock, createIds, createSecret } from './core/clock.ts';
import { errorBody, toDomainError } from './core/errors.ts';
import { beginContact } from './operations/contacts.ts';
import { wakeReaders } from './core/feed.ts';
import { endExpired, expireItems } from './core/inbox.ts';
import { sweepTasks } from './core/tasks.ts';
import { createExchange, type Exchange } from './transports/exchange.ts';
import { answerOauth } from './transports/oauth.ts';
import type { Agent } from './core/records.ts';
import type {
  ApprovalDecision,
  ApprovalSubject,
  Failure,
  FakeAgent,
  FakeAgentOptions,
  FakeOutgoingPolicy,
  FakeService,
  FakeServiceOptions,
  WebhookReceiver,
} from './types.ts';
import { basicScopes } from '../../../core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../core/src/domain/errors.ts';
import { postToUrl } from './core/webhooks.ts';
import { answerRest } from './transports/rest.ts';
import { createState, type State } from './core/state.ts';
import { bearerToken, challengeFor, issueToken, revokeToken } from './transports/tokens.ts';
import { createWebSocketTransport, type WebSocketTransport } from './transports/websocket.ts';

/** Starts a service in memory on a free port of the loopback interface. */
export async function fakeService({ now, onWebhook }: FakeServiceOptions = {}): Promise<FakeService> {
  const clock = createClock(now);
  const post: WebhookReceiver = (request) => postToUrl(state.stopped.signal, request);
  const state: State = createState(clock, createIds(), onWebhook ?? post);
  const failures: { status: Failure['status']; retry_after: number | undefined }[] = [];
  const transport = createWebSocketTransport(state);
  const server = createServer((request, response) => {
    const failure = failures.shift();
    if (failure?.status === 'disconnect') request.destroy();
    else void answer(state, createExchange(request, response), failure);
  });
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    if (failures.shift()) socket.destroy();
    else transport.upgrade(request, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const controls = createControls(state);
  return {
    ...controls,
    url: state.url,
    clock: {
      now: clock.now,
      advance(milliseconds) {
        clock.advance(milliseconds);
        for (const listener of state.onTokensEnded) listener();
        for (const { inbox } of state.agents.values()) if (inbox) endExpired(state, inbox);
        sweepTasks(state);
        // Items become ready.
        for (const agent of state.agents.values()) wakeReaders(agent);
      },
    },
    failNext({ status, times = 1, retry_after }) {
      for (let count = 0; count < times; count += 1) failures.push({ status, retry_after });
    },
    disconnect() {
      transport.disconnect();
      server.closeAllConnections();
    },
    stop() {
      state.stopped.abort();
      return stop(server, transport);
    },
  };
}

async function stop(server: ReturnType<typeof createServer>, transport: WebSocketTransport): Promise<void> {
  transport.close(1001, 'The server is shutting down. Reconnect with your cursor.');
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  setImmediate(transport.disconnect);
  await closed;
}

/** What a test does to the service from outside. */
function createControls(state: State) {
  function find(handle: string): Agent {
    const agent = state.agents.get(toAgentId(state, handle));
    if (!agent) throw new Error(`the fake service has no agent ${handle}; add it with agent()`);
    return agent;
  }
  return {
    agent(handle: string, { scopes = basicScopes, ...profile }: FakeAgentOptions = {}): FakeAgent {
      const { id, canonical_handle } = addAgent(state, handle, { inbound_policy: 'open', ...profile });
      const client_id = createSecret('fake_client');
      const client_secret = createSecret('fake_secret');
      state.credentials.set(client_id, { client_id, client_secret, agent_id: id, scopes });
      const token = issueToken(state, id, scopes, Infinity);
      return { id, handle: canonical_handle, token, client_id, client_secret };
    },
    token(handle: string, options: { scopes?: readonly string[]; expires_in?: number } = {}): string {
      const { scopes = basicScopes, expires_in = 900 } = options;
      return issueToken(state, find(handle).id, scopes, expires_in * 1_000);
    },
    revoke(token: string): void {
      revokeToken(state, token);
    },
    connect: (handle: string, other: string): void => beginContact(state, find(handle), find(other)),
    requestApproval(handle: string, subject: ApprovalSubject) {
      const { id, expires_at } = openApproval(state, find(handle), subject);
      return { id, expires_at };
    },
    setOutgoingPolicy(handle: string, policy: FakeOutgoingPolicy): void {
      find(handle).outgoing_policy = policy;
    },
    async decideApproval(id: string, decision: ApprovalDecision, reason?: string): Promise<void> {
      const approval = state.approvals.get(id);
      if (!approval) throw new Error(`the fake service has no approval ${id}`);
      const decided_by = ownerOf(approval.agent);
      const by = { decided_via: 'page', decided_by, decided_by_agent: null, reason } as const;
      await decideApproval(state, approval, decision, by);
    },
    removeEvents(handle: string): void {
      const agent = find(handle);
      const { length } = agent.feed.events;
      expireItems(state, agent);
      agent.feed.removed += length;
      agent.feed.events.splice(0, length);
    },
  };
}

async function answer(
  state: State,
  exchange: Exchange,
  failure: { status: Failure['status']; retry_after: number | undefined } | undefined,
): Promise<void> {
  try {
    if (failure) throw toFailure(failure);
    if (exchange.path.startsWith('/v1/') && !exchange.path.startsWith('/v1/.well-known/'))
      await answerRest(state, exchange);
    else if (!(await answerOauth(state, exchange)) && !(await answerBlob(state, exchange)))
      throw new DomainError('NOT_FOUND', `No such endpoint: ${exchange.method} ${exchange.path}.`);
  } catch (thrown) {
    refuse(state, exchange, toDomainError(thrown));
  }
}

function toFailure({ status, retry_after }: { status: Failure['status']; retry_after: number | undefined }) {
  const code = status === 429 ? 'RATE_LIMITED' : status === 503 ? 'UNAVAILABLE' : 'INTERNAL';
  const options = retry_after === undefined ? {} : { retry_after };
  return new DomainError(code, 'The test asked for this failure.', options);
}

function refuse(state: State, exchange: Exchange, error: DomainError): void {
  const challenge = challengeFor(state, error, bearerToken(exchange.headers.authorization) !== undefined);
  if (challenge !== undefined) exchange.setHeader('WWW-Authenticate', challenge);
  const { retry_after } = error;
  if (retry_after !== undefined) exchange.setHeader('Retry-After', String(retry_after));
  exchange.json(error.status, errorBody(error, exchange.request_id));
}
