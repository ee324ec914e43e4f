import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { forEachWakeup, wakeupsTopic } from '../../../packages/core/src/domain/feed/wakeups.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { StreamTransport, StreamEnd } from '../contract.ts';
import type { Presence } from '../presence.ts';

/** An open stream, or a request that waits for events. */
export interface Listener {
  readonly actor: Actor;
  readonly transport: StreamTransport;
  /** The number of the last entry that it has read. */
  position(): number;
  /** The feed of its agent has an entry with this number. A hint: it may be late, duplicated or wrong. */
  notify(number: number): void;
  end(reason: StreamEnd): void;
}

/** The listeners of this process, by agent. */
export interface StreamRegistry {
  /** @throws {DomainError} RATE_LIMITED when the agent has `listeners_per_agent` already. */
  add(listener: Listener): void;
  remove(listener: Listener): void;
  listeners(): Iterable<Listener>;
  byAgent(): Iterable<[agentId: string, listeners: ReadonlySet<Listener>]>;
  /** Whether the agent has listeners, or had one until `linger_ms` ago. */
  has(agentId: string): boolean;
  /** Notifies the listeners of an agent: at once, unless a notification is queued for it. */
  notify(agentId: string, number: number): void;
  /** Queues a notification. Queued agents are notified after pending I/O, a few in each iteration of the event loop. */
  notifySoon(agentId: string, number: number): void;
  close(): void;
}

export interface StreamRegistryParts {
  bus: Pick<Bus, 'subscribe'>;
  presence: Pick<Presence, 'change'>;
  /** How long an agent stays present after its last listener has left: a long poll reconnects immediately. */
  linger_ms: number;
  /** Maximum listeners of one agent. */
  listeners_per_agent: number;
}

interface AgentListeners {
  listeners: Set<Listener>;
  lingerTimer: NodeJS.Timeout | undefined;
}

/**
 * Queued agents that are notified in one iteration of the event loop. Pending requests continue in between, and an agent that
 * is queued again meanwhile gets everything new in one packet.
 */
const maxNotifiedPerTurn = 50;

/** Keeps the listeners of this process. One bus subscription receives the wake-ups of all agents. */
export function createStreamRegistry(parts: StreamRegistryParts): StreamRegistry {
  const { presence, linger_ms, listeners_per_agent } = parts;
  const agents = new Map<string, AgentListeners>();
  const { notify, notifySoon } = createNotifier((agentId) => agents.get(agentId)?.listeners);
  const unsubscribe = parts.bus.subscribe(wakeupsTopic, (body) => forEachWakeup(body, notify));

  function getOrCreate(agentId: string): AgentListeners {
    const existing = agents.get(agentId);
    if (existing) return existing;
    const agent: AgentListeners = { listeners: new Set(), lingerTimer: undefined };
    agents.set(agentId, agent);
    presence.change(agentId, true);
    return agent;
  }

  function removeAgent(agentId: string, agent: AgentListeners): void {
    clearTimeout(agent.lingerTimer);
    agents.delete(agentId);
    presence.change(agentId, false);
  }

  return {
    add(listener) {
      const { agent_id } = listener.actor;
      const count = agents.get(agent_id)?.listeners.size ?? 0;
      if (count >= listeners_per_agent) throw tooManyListeners(listeners_per_agent);
      const agent = getOrCreate(agent_id);
      clearTimeout(agent.lingerTimer);
      agent.listeners.add(listener);
    },
    remove(listener) {
      const { agent_id } = listener.actor;
      const agent = agents.get(agent_id);
      if (!agent?.listeners.delete(listener) || agent.listeners.size > 0) return;
      agent.lingerTimer = setTimeout(() => removeAgent(agent_id, agent), linger_ms).unref();
    },
    *listeners() {
      for (const { listeners } of agents.values()) yield* listeners;
    },
    *byAgent() {
      for (const [agentId, { listeners }] of agents) if (listeners.size > 0) yield [agentId, listeners];
    },
    has: (agentId) => agents.has(agentId),
    notify,
    notifySoon,
    close() {
      for (const [agentId, agent] of agents) removeAgent(agentId, agent);
      unsubscribe();
    },
  };
}

function createNotifier(
  listenersOf: (agentId: string) => Iterable<Listener> | undefined,
): Pick<StreamRegistry, 'notify' | 'notifySoon'> {
  /** Queued agents and the number to notify each of, oldest first. */
  const queued = new Map<string, number>();

  function notify(agentId: string, number: number): void {
    if (queued.has(agentId)) notifySoon(agentId, number);
    else for (const listener of listenersOf(agentId) ?? []) listener.notify(number);
  }

  function notifySoon(agentId: string, number: number): void {
    if (queued.size === 0) setImmediate(notifyQueued);
    queued.set(agentId, Math.max(number, queued.get(agentId) ?? 0));
  }

  function notifyQueued(): void {
    let remaining = maxNotifiedPerTurn;
    for (const [agentId, number] of queued) {
      if (remaining-- === 0) break;
      queued.delete(agentId);
      notify(agentId, number);
    }
    if (queued.size > 0) setImmediate(notifyQueued);
  }

  return { notify, notifySoon };
}

function tooManyListeners(limit: number): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    `An agent can have ${limit} open connections, streams and waiting requests per server. Close or share some.`,
    { retry_after: 5 },
  );
}
