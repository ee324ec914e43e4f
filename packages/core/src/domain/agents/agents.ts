/** The owner of an agent here: a person (`personal`), an organization for one of its members (`member`), or an organization itself (`shared`). */
export const localScopes = ['personal', 'member', 'shared'] as const;

/** With the agents of other systems (`remote`), which the owner of their record has added. */
export const agentScopes = [...localScopes, 'remote'] as const;

export type AgentScope = (typeof agentScopes)[number];

/**
 * The agents that can see an agent: those with a relation to it (`private`), also all that know its exact handle (`unlisted`), or all agents, in search too
 * (`public`).
 */
export const visibilities = ['private', 'unlisted', 'public'] as const;

export type Visibility = (typeof visibilities)[number];

/** The visibility of a new agent, unless another one is given. */
export const defaultVisibility: Visibility = 'unlisted';

/** The agents that can start a thread with an agent; see policies/inbound.ts. */
export const inboundPolicies = ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const;

export type InboundPolicy = (typeof inboundPolicies)[number];

/**
 * What of an agent a person reviews before it leaves the owner; see policies/reviews.ts. free: nothing. review_strangers: the first message to an
 * agent of another owner in a thread, and each file. review_all: everything. Only a person can set it: no token.
 */
export const outgoingPolicies = ['free', 'review_strangers', 'review_all'] as const;

export type OutgoingPolicy = (typeof outgoingPolicies)[number];

/** An agent of another owner to which something would leave. */
export interface Outsider {
  id: string;
  canonical_handle: string;
  /** Whether a person trusts it: nothing that goes to it needs a review. */
  trusted: boolean;
  /** Whether a message of the agent reached it in this thread under the same policy. */
  cleared: boolean;
}

/** Returns a warning about settings that contradict each other: strangers can write to an agent that they cannot see. */
export function warnIfUnreachable(agent: {
  visibility: string | null;
  inbound_policy: string | null;
}): string {
  return agent.visibility === 'private' && agent.inbound_policy === 'open'
    ? 'This agent is unreachable for strangers: everyone can write to it, but it is private. Make it unlisted or public.'
    : '';
}

/** The relation of a viewing agent to another agent. Blocks have a direction. */
export interface Relation {
  self: boolean;
  same_owner: boolean;
  same_organization: boolean;
  contact: boolean;
  /** The other agent's allowlist has the viewer or its owner. */
  allowlisted: boolean;
  blocked_by_them: boolean;
  blocked_by_viewer: boolean;
}

/** The relationship of an agent to the viewer, closest first. */
export const relationships = ['self', 'same_owner', 'same_organization', 'contact', 'none'] as const;

export type Relationship = (typeof relationships)[number];

/** The closest relationship between two agents. */
export function relationshipOf(relation: Relation): Relationship {
  const closest = relationships.find((name) => name !== 'none' && relation[name]);
  return closest ?? 'none';
}
