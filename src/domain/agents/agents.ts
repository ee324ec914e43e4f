/** Who owns an agent: a person; an organization, for one of its people; an organization, as a service (contract, section 2). */
export const agentScopes = ['personal', 'member', 'shared'] as const;

export type AgentScope = (typeof agentScopes)[number];

/** Who sees an agent: those who know it, or everybody. */
export const visibilities = ['private', 'public'] as const;

export type Visibility = (typeof visibilities)[number];

/** Who may write to an agent first; see policies/inbound.ts. */
export const inboundPolicies = ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const;

export type InboundPolicy = (typeof inboundPolicies)[number];

/** What relates a viewing agent to another one; blocks have a direction. */
export interface Relation {
  self: boolean;
  same_owner: boolean;
  same_organization: boolean;
  contact: boolean;
  /** The viewer, or its owner, is on the other one's allowlist. */
  allowlisted: boolean;
  blocked_by_them: boolean;
  blocked_by_viewer: boolean;
}

/** How an agent belongs to the viewer, closest first (contract, section 3). */
export const relationships = ['self', 'same_owner', 'same_organization', 'contact', 'none'] as const;

export type Relationship = (typeof relationships)[number];

/** The closest way in which two agents belong together. */
export function relationshipOf(relation: Relation): Relationship {
  const closest = relationships.find((way) => way !== 'none' && relation[way]);
  return closest ?? 'none';
}
