import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
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
   * Adds a member at once; resolves when the bus listens for its agent, or is too slow for that to be worth waiting for.
   * @throws {DomainError} RATE_LIMITED when the agent has as many members as it may have.
   */
  join(member: Member): Promise<void>;
  leave(member: Member): void;
  members(): Iterable<Member>;
  /** The members of each agent. */
  byAgent(): Iterable<[agentId: string, members: ReadonlySet<Member>]>;
  /** Whether anybody listens for this agent, or has just done so. */
  has(agentId: string): boolean;
  ring(agentId: string, number: number): void;
  /** Subscribes again where it failed. */
  repair(): void;
  close(): Promise<void>;
}

export interface ChannelsParts {
  bus: Pick<Bus, 'subscribe'>;
  presence: Pick<Presence, 'change'>;
  log(message: string, error: unknown): void;
  /** How long subscription and presence outlive the last member: a long poll comes back at once. */
  linger_ms: number;
  /** How long `join` waits for the bus, at most. */
  patience_ms: number;
  /** Members of one agent, at most. */
  members_per_agent: number;
}

interface Channel {
  members: Set<Member>;
  /** What ends the subscription; undefined when it failed. */
  subscription: Promise<(() => Promise<void>) | undefined> | undefined;
  linger: NodeJS.Timeout | undefined;
}

/** Who listens to which agent in this process. One subscription for each agent, from its first member to after its last. */
export function createChannels(parts: ChannelsParts): Channels {
  const { bus, presence, log, linger_ms, patience_ms, members_per_agent } = parts;
  const channels = new Map<string, Channel>();

  function ring(agentId: string, number: number): void {
    for (const member of channels.get(agentId)?.members ?? []) member.ring(number);
  }

  function subscribe(agentId: string, channel: Channel): void {
    channel.subscription = bus
      .subscribe(`agent/${agentId}`, (body) => ring(agentId, Number(body)))
      .catch((error: unknown) => {
        // The poll stands in meanwhile, and has it repaired.
        log('the bus refused a subscription', error);
        channel.subscription = undefined;
        return undefined;
      });
  }

  async function drop(agentId: string, channel: Channel): Promise<void> {
    clearTimeout(channel.linger);
    channels.delete(agentId);
    presence.change(agentId, false);
    try {
      const unsubscribe = await channel.subscription;
      await unsubscribe?.();
    } catch (error) {
      log('the bus did not end a subscription', error);
    }
  }

  function channelOf(agentId: string): Channel {
    const known = channels.get(agentId);
    if (known) return known;
    const channel: Channel = { members: new Set(), subscription: undefined, linger: undefined };
    channels.set(agentId, channel);
    presence.change(agentId, true);
    subscribe(agentId, channel);
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
      await atMost(patience_ms, channel.subscription);
    },
    leave(member) {
      const { agent_id } = member.actor;
      const channel = channels.get(agent_id);
      if (!channel?.members.delete(member) || channel.members.size > 0) return;
      channel.linger = setTimeout(() => void drop(agent_id, channel), linger_ms).unref();
    },
    *members() {
      for (const { members } of channels.values()) yield* members;
    },
    *byAgent() {
      for (const [agentId, { members }] of channels) if (members.size > 0) yield [agentId, members];
    },
    has: (agentId) => channels.has(agentId),
    ring,
    repair() {
      for (const [agentId, channel] of channels) if (!channel.subscription) subscribe(agentId, channel);
    },
    async close() {
      await Promise.all(Array.from(channels, ([agentId, channel]) => drop(agentId, channel)));
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
