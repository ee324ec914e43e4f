/**
 * The owner of an agent: a person (`personal`), an organization for one of its members (`member`), or an organization itself (`shared`).
 */
export const agentScopes = ['personal', 'member', 'shared'] as const;

export type AgentScope = (typeof agentScopes)[number];

/** The agents that can find an agent: all agents, or only those that have a relation to it. */
export const visibilities = ['private', 'public'] as const;

export type Visibility = (typeof visibilities)[number];

/** The agents that can start a thread with an agent; see policies/inbound.ts. */
export const inboundPolicies = ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const;

export type InboundPolicy = (typeof inboundPolicies)[number];

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
