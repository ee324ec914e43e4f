import type { z } from 'zod';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import type { IdKind } from '../../../../core/src/domain/ids.ts';
import type { FakeClock, WebhookReceiver } from '../types.ts';
import type {
  Agent,
  Approval,
  Attachment,
  ClientCredential,
  ContactRequest,
  Message,
  Task,
  Thread,
  Token,
} from './records.ts';

/** What several features of a fake service know. All of it is in memory. */
export interface State {
  clock: FakeClock;
  newId(kind: IdKind): string;
  /** The address of the service; known when it listens. */
  url: string;
  agents: Map<string, Agent>;
  agentIds: Map<string, string>;
  threads: Map<string, Thread>;
  messages: Map<string, Message>;
  /** In the order of their opening. */
  tasks: Map<string, Task>;
  /** The id of the task of each message that belongs to one. */
  taskOfMessage: Map<string, string>;
  requests: ContactRequest[];
  approvals: Map<string, Approval>;
  attachments: Map<string, Attachment>;
  tokens: Map<string, Token>;
  credentials: Map<string, ClientCredential>;
  /** The number of open connections and waiting calls of an agent. */
  presence: Map<string, number>;
  /** When an agent was last online. */
  lastSeen: Map<string, number>;
  /** Called when tokens end. */
  onTokensEnded: Set<() => void>;
  receiveWebhook: WebhookReceiver;
  /** Aborted when the service stops. */
  stopped: AbortController;
}

/** Creates the state of a service without agents. */
export function createState(
  clock: FakeClock,
  newId: (kind: IdKind) => string,
  receiveWebhook: WebhookReceiver,
): State {
  return {
    clock,
    newId,
    url: '',
    agents: new Map(),
    agentIds: new Map(),
    threads: new Map(),
    messages: new Map(),
    tasks: new Map(),
    taskOfMessage: new Map(),
    requests: [],
    approvals: new Map(),
    attachments: new Map(),
    tokens: new Map(),
    credentials: new Map(),
    presence: new Map(),
    lastSeen: new Map(),
    onTokensEnded: new Set(),
    receiveWebhook,
    stopped: new AbortController(),
  };
}

/** What one feature stores, in its own file: a map for each service, or for each thread or agent. */
export function storeFor<Value>(): (owner: State | Thread | Agent) => Map<string, Value> {
  const stores = new WeakMap<object, Map<string, Value>>();
  return (owner) => {
    const store = stores.get(owner) ?? new Map<string, Value>();
    stores.set(owner, store);
    return store;
  };
}

/** A call of an agent. */
export interface Call {
  state: State;
  me: Agent;
  token: string;
  scopes: ReadonlySet<string>;
  /** The handles to which a person lets it go. */
  reviewed?: readonly string[];
  /** Aborted when the caller is gone or the service stops. */
  signal: AbortSignal;
}

/** @throws {DomainError} UNAUTHORIZED when the token of a call that waits has ended */
export function requireValidToken({ tokens, clock }: State, token: string): void {
  const found = tokens.get(token);
  if (found && found.expires_at > clock.now()) return;
  throw new DomainError('UNAUTHORIZED', 'The access token has ended. Get a new one.');
}

/** An operation: the schema of its input, and what it does. */
export interface Handler<Input = unknown> {
  input: z.ZodType<Input>;
  run(call: Call, input: Input): object | Promise<object>;
}

/** Infers the input of an operation from its schema. */
export const defineHandler = <Input>(
  input: z.ZodType<Input>,
  run: Handler<Input>['run'],
): Handler<Input> => ({
  input,
  run,
});

/** Counts an open connection or a waiting call, until the returned function is called. */
export function enter(state: State, agentId: string): () => void {
  state.presence.set(agentId, (state.presence.get(agentId) ?? 0) + 1);
  state.lastSeen.set(agentId, state.clock.now());
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    state.lastSeen.set(agentId, state.clock.now());
    state.presence.set(agentId, (state.presence.get(agentId) ?? 1) - 1);
  };
}
