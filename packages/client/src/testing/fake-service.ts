import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addAgent, ownerOf, toAgentId } from './operations/agents.ts';
import { type ApprovalSubject, decideApproval, openApproval } from './operations/approvals.ts';
import { answerBlob } from './transports/blobs.ts';
import { createClock, createIds, createSecret, type FakeClock } from './core/clock.ts';
import { beginContact } from './operations/contacts.ts';
import { wakeReaders } from './core/feed.ts';
import { expireItems } from './core/inbox.ts';
import { createExchange, type Exchange } from './transports/exchange.ts';
import { createExecute, type Execute } from './operations/execute.ts';
import { answerOauth } from './transports/oauth.ts';
import type { Agent, AgentProfile, ApprovalDecision, WebhookReceiver } from './core/records.ts';
import { postToUrl } from './core/webhooks.ts';
import { answerRest } from './transports/rest.ts';
import { ServiceError, toServiceError } from './core/service-error.ts';
import { createState, type State } from './core/state.ts';
import { bearerToken, challengeFor, issueToken, revokeToken } from './transports/tokens.ts';
import { createWebSocketTransport, type WebSocketTransport } from './transports/websocket.ts';

/** An agent of a fake service, with a token and a client credential. */
export interface FakeAgent {
  id: string;
  handle: string;
  token: string;
  client_id: string;
  client_secret: string;
}

export interface FakeAgentOptions extends Partial<AgentProfile> {
  /** Scopes of the token and the credential; default: those of threads and contacts. */
  scopes?: readonly string[];
}

/** Requests that fail on purpose. */
export interface Failure {
  /** The HTTP status; `disconnect` cuts the connection without an answer. */
  status: 429 | 500 | 503 | 'disconnect';
  /** The number of requests; default 1. */
  times?: number;
  /** Sent as Retry-After, in seconds. */
  retry_after?: number;
}

/** A service in memory, with the wire of the real one. */
export interface FakeService {
  /** The address, as `http://127.0.0.1:<port>`. */
  url: string;
  clock: FakeClock;
  /** Adds an agent. It accepts messages from everyone, unless its options say something else. */
  agent(handle: string, options?: FakeAgentOptions): FakeAgent;
  /** Issues another token; `expires_in` is in seconds of the clock. */
  token(handle: string, options?: { scopes?: readonly string[]; expires_in?: number }): string;
  /** Ends tokens: their connections close with 1008, and requests get 401. */
  revoke(token: string): void;
  /** Makes two agents contacts. */
  connect(handle: string, other: string): void;
  /** Requests an approval, as a tool call of the agent that gets APPROVAL_REQUIRED. */
  requestApproval(handle: string, subject: ApprovalSubject): { id: string; expires_at: number };
  /** Decides an approval as a person on its page. Approving runs the call, and the agent gets `approval.resolved`. */
  decideApproval(id: string, decision: ApprovalDecision): void;
  /** Lets the next requests fail. */
  failNext(failure: Failure): void;
  /** Cuts every connection: WebSockets and waiting requests. */
  disconnect(): void;
  /** Removes the events that are kept for an agent. Readers that have not seen them get a gap. */
  removeEvents(handle: string): void;
  stop(): Promise<void>;
}

export interface FakeServiceOptions {
  /** The time at the start, in milliseconds since the epoch; default: 2026-01-01T00:00:00Z. */
  now?: number;
  /** Receives the requests of webhooks and returns the status of the response; default: they are posted to their addresses. */
  onWebhook?: WebhookReceiver;
}

const basicScopes = ['threads:read', 'threads:write', 'contacts:read', 'contacts:write'];

/** Starts a service in memory on a free port of the loopback interface. */
export async function fakeService({ now, onWebhook }: FakeServiceOptions = {}): Promise<FakeService> {
  const clock = createClock(now);
  const post: WebhookReceiver = (request) => postToUrl(state.stopped.signal, request);
  const state: State = createState(clock, createIds(), onWebhook ?? post);
  const execute = createExecute();
  const failures: { status: Failure['status']; retry_after: number | undefined }[] = [];
  const transport = createWebSocketTransport(state, execute);
  const server = createServer((request, response) => {
    const failure = failures.shift();
    if (failure?.status === 'disconnect') request.destroy();
    else void answer(state, execute, createExchange(request, response), failure);
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
        // Items become ready, and leases expire.
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
    decideApproval(id: string, decision: ApprovalDecision): void {
      const approval = state.approvals.get(id);
      if (!approval) throw new Error(`the fake service has no approval ${id}`);
      const decided_by = ownerOf(approval.agent);
      decideApproval(state, approval, decision, { decided_via: 'page', decided_by, decided_by_agent: null });
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
  execute: Execute,
  exchange: Exchange,
  failure: { status: Failure['status']; retry_after: number | undefined } | undefined,
): Promise<void> {
  try {
    if (failure) throw toFailure(failure);
    if (exchange.path.startsWith('/v1/') && !exchange.path.startsWith('/v1/.well-known/'))
      await answerRest(state, execute, exchange);
    else if (!(await answerOauth(state, exchange)) && !(await answerBlob(state, exchange)))
      throw new ServiceError('NOT_FOUND', `No such endpoint: ${exchange.method} ${exchange.path}.`);
  } catch (thrown) {
    refuse(state, exchange, toServiceError(thrown));
  }
}

function toFailure({ status, retry_after }: { status: Failure['status']; retry_after: number | undefined }) {
  const code = status === 429 ? 'RATE_LIMITED' : status === 503 ? 'UNAVAILABLE' : 'INTERNAL';
  const options = retry_after === undefined ? {} : { retry_after };
  return new ServiceError(code, 'The test asked for this failure.', options);
}

function refuse(state: State, exchange: Exchange, error: ServiceError): void {
  const challenge = challengeFor(state, error, bearerToken(exchange.headers.authorization) !== undefined);
  if (challenge !== undefined) exchange.setHeader('WWW-Authenticate', challenge);
  const { retry_after } = error.options;
  if (retry_after !== undefined) exchange.setHeader('Retry-After', String(retry_after));
  exchange.json(error.status, error.body(exchange.request_id));
}
