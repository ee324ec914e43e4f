import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { forEachWakeup, wakeupsTopic } from '../../domain/feed/wakeups.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { withTimeout } from '../../shared/timeout.ts';
import type { StreamTransport, StreamEnd } from '../contract.ts';
import type { Presence } from '../presence.ts';

/** One open stream, or one caller that waits. */
export interface Listener {
  readonly actor: Actor;
  readonly transport: StreamTransport;
  /** What it has read up to. */
  position(): number;
  /** The feed of its agent is said to have grown to this number. */
  notify(number: number): void;
  end(reason: StreamEnd): void;
}

export interface StreamRegistry {
  /**
   * Adds a member at once; resolves when the bus is listened to, or is too slow for that to be worth waiting for.
   * @throws {DomainError} RATE_LIMITED when the agent has as many members as it may have.
   */
  join(member: Listener): Promise<void>;
  leave(member: Listener): void;
  listeners(): Iterable<Listener>;
  /** The members of each agent. */
  byAgent(): Iterable<[agentId: string, members: ReadonlySet<Listener>]>;
  /** Whether anybody listens for this agent, or has just done so. */
  has(agentId: string): boolean;
  /** Rings the members of this agent; at once, unless it is to be rung soon. */
  notify(agentId: string, number: number): void;
  /** The same for one of many: behind what is under way, a few in each turn of the event loop. */
  notifySoon(agentId: string, number: number): void;
  /** Subscribes again if that failed. */
  repair(): void;
  close(): Promise<void>;
}

export interface StreamRegistryParts {
  bus: Pick<Bus, 'subscribe'>;
  presence: Pick<Presence, 'change'>;
  log(message: string, error: unknown): void;
  /** How long an agent is present behind its last member: a long poll comes back at once. */
  linger_ms: number;
  /** How long `join` waits for the bus, at most, in milliseconds. */
  bus_timeout_ms: number;
  /** Members of one agent, at most. */
  listeners_per_agent: number;
}

interface AgentListeners {
  listeners: Set<Listener>;
  linger: NodeJS.Timeout | undefined;
}

/**
 * Agents that are rung soon in one turn of the event loop: calls under way go on in between, and an agent that is rung again meanwhile
 * gets all that is new in one packet.
 */
const maxNotifiedPerTurn = 50;

/** Who listens to which agent in this process. One subscription hears the rings of all agents. */
export function createStreamRegistry(parts: StreamRegistryParts): StreamRegistry {
  const { bus, presence, log, linger_ms, bus_timeout_ms, listeners_per_agent } = parts;
  const channels = new Map<string, AgentListeners>();
  /** What ends the subscription; undefined when it failed. */
  let subscription: Promise<(() => Promise<void>) | undefined> | undefined;
  let listening = false;
  subscribe();

  /** Whom to ring soon, and up to which number; who has waited longest stands first. */
  const soon = new Map<string, number>();

  function notify(agentId: string, number: number): void {
    if (soon.has(agentId)) notifySoon(agentId, number);
    else for (const member of channels.get(agentId)?.listeners ?? []) member.notify(number);
  }

  function notifySoon(agentId: string, number: number): void {
    if (soon.size === 0) setImmediate(ringSome);
    soon.set(agentId, Math.max(number, soon.get(agentId) ?? 0));
  }

  function ringSome(): void {
    let room = maxNotifiedPerTurn;
    for (const [agentId, number] of soon) {
      if (room-- === 0) break;
      soon.delete(agentId);
      notify(agentId, number);
    }
    if (soon.size > 0) setImmediate(ringSome);
  }

  function subscribe(): void {
    subscription = bus
      .subscribe(wakeupsTopic, (body) => forEachWakeup(body, notify))
      .then((unsubscribe) => {
        listening = true;
        return unsubscribe;
      })
      .catch((error: unknown) => {
        // The poll stands in meanwhile, and has it repaired.
        log('the bus refused a subscription', error);
        subscription = undefined;
        return undefined;
      });
  }

  function drop(agentId: string, channel: AgentListeners): void {
    clearTimeout(channel.linger);
    channels.delete(agentId);
    presence.change(agentId, false);
  }

  function channelOf(agentId: string): AgentListeners {
    const known = channels.get(agentId);
    if (known) return known;
    const channel: AgentListeners = { listeners: new Set(), linger: undefined };
    channels.set(agentId, channel);
    presence.change(agentId, true);
    return channel;
  }

  return {
    async join(member) {
      const { agent_id } = member.actor;
      const open = channels.get(agent_id)?.listeners.size ?? 0;
      if (open >= listeners_per_agent) throw tooMany(listeners_per_agent);
      const channel = channelOf(agent_id);
      clearTimeout(channel.linger);
      channel.listeners.add(member);
      if (!listening && subscription) await withTimeout(bus_timeout_ms, subscription, () => undefined);
    },
    leave(member) {
      const { agent_id } = member.actor;
      const channel = channels.get(agent_id);
      if (!channel?.listeners.delete(member) || channel.listeners.size > 0) return;
      channel.linger = setTimeout(() => drop(agent_id, channel), linger_ms).unref();
    },
    *listeners() {
      for (const { listeners } of channels.values()) yield* listeners;
    },
    *byAgent() {
      for (const [agentId, { listeners }] of channels) if (listeners.size > 0) yield [agentId, listeners];
    },
    has: (agentId) => channels.has(agentId),
    notify,
    notifySoon,
    repair() {
      if (!subscription) subscribe();
    },
    async close() {
      for (const [agentId, channel] of channels) drop(agentId, channel);
      try {
        const unsubscribe = await subscription;
        await unsubscribe?.();
      } catch (error) {
        log('the bus did not end a subscription', error);
      }
    },
  };
}

function tooMany(limit: number): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    `An agent may have ${limit} connections, streams and waiting calls here at once; close some, or share them.`,
    { retry_after: 5 },
  );
}
