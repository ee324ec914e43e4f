import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { eachRing, ringsTopic } from '../domain/rings.ts';
import type { Bus } from '../platform/bus.ts';
import { atMost } from './at-most.ts';
import type { StreamDoor, StreamEnd } from './contract.ts';
import type { Presence } from './presence.ts';

/** One open stream, or one caller that waits. */
export interface Member {
  readonly actor: Actor;
  readonly door: StreamDoor;
  /** What it has read up to. */
  position(): number;
  /** The feed of its agent is said to have grown to this number. */
  ring(number: number): void;
  end(reason: StreamEnd): void;
}

export interface Channels {
  /**
   * Adds a member at once; resolves when the bus is listened to, or is too slow for that to be worth waiting for.
   * @throws {DomainError} RATE_LIMITED when the agent has as many members as it may have.
   */
  join(member: Member): Promise<void>;
  leave(member: Member): void;
  members(): Iterable<Member>;
  /** The members of each agent. */
  byAgent(): Iterable<[agentId: string, members: ReadonlySet<Member>]>;
  /** Whether anybody listens for this agent, or has just done so. */
  has(agentId: string): boolean;
  /** Rings the members of this agent; at once, unless it is to be rung soon. */
  ring(agentId: string, number: number): void;
  /** The same for one of many: behind what is under way, a few in each turn of the event loop. */
  ringSoon(agentId: string, number: number): void;
  /** Subscribes again if that failed. */
  repair(): void;
  close(): Promise<void>;
}

export interface ChannelsParts {
  bus: Pick<Bus, 'subscribe'>;
  presence: Pick<Presence, 'change'>;
  log(message: string, error: unknown): void;
  /** How long an agent is present behind its last member: a long poll comes back at once. */
  linger_ms: number;
  /** How long `join` waits for the bus, at most, in milliseconds. */
  patience_ms: number;
  /** Members of one agent, at most. */
  members_per_agent: number;
}

interface Channel {
  members: Set<Member>;
  linger: NodeJS.Timeout | undefined;
}

/**
 * Agents that are rung soon in one turn of the event loop: calls under way go on in between, and an agent that is rung again meanwhile
 * gets all that is new in one packet.
 */
const ringsAtOnce = 50;

/** Who listens to which agent in this process. One subscription hears the rings of all agents. */
export function createChannels(parts: ChannelsParts): Channels {
  const { bus, presence, log, linger_ms, patience_ms, members_per_agent } = parts;
  const channels = new Map<string, Channel>();
  /** What ends the subscription; undefined when it failed. */
  let subscription: Promise<(() => Promise<void>) | undefined> | undefined;
  let listening = false;
  subscribe();

  /** Whom to ring soon, and up to which number; who has waited longest stands first. */
  const soon = new Map<string, number>();

  function ring(agentId: string, number: number): void {
    if (soon.has(agentId)) ringSoon(agentId, number);
    else for (const member of channels.get(agentId)?.members ?? []) member.ring(number);
  }

  function ringSoon(agentId: string, number: number): void {
    if (soon.size === 0) setImmediate(ringSome);
    soon.set(agentId, Math.max(number, soon.get(agentId) ?? 0));
  }

  function ringSome(): void {
    let room = ringsAtOnce;
    for (const [agentId, number] of soon) {
      if (room-- === 0) break;
      soon.delete(agentId);
      ring(agentId, number);
    }
    if (soon.size > 0) setImmediate(ringSome);
  }

  function subscribe(): void {
    subscription = bus
      .subscribe(ringsTopic, (body) => eachRing(body, ring))
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

  function drop(agentId: string, channel: Channel): void {
    clearTimeout(channel.linger);
    channels.delete(agentId);
    presence.change(agentId, false);
  }

  function channelOf(agentId: string): Channel {
    const known = channels.get(agentId);
    if (known) return known;
    const channel: Channel = { members: new Set(), linger: undefined };
    channels.set(agentId, channel);
    presence.change(agentId, true);
    return channel;
  }

  return {
    async join(member) {
      const { agent_id } = member.actor;
      const open = channels.get(agent_id)?.members.size ?? 0;
      if (open >= members_per_agent) throw tooMany(members_per_agent);
      const channel = channelOf(agent_id);
      clearTimeout(channel.linger);
      channel.members.add(member);
      if (!listening) await atMost(patience_ms, subscription);
    },
    leave(member) {
      const { agent_id } = member.actor;
      const channel = channels.get(agent_id);
      if (!channel?.members.delete(member) || channel.members.size > 0) return;
      channel.linger = setTimeout(() => drop(agent_id, channel), linger_ms).unref();
    },
    *members() {
      for (const { members } of channels.values()) yield* members;
    },
    *byAgent() {
      for (const [agentId, { members }] of channels) if (members.size > 0) yield [agentId, members];
    },
    has: (agentId) => channels.has(agentId),
    ring,
    ringSoon,
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
