/** Who owns an agent: a person; an organization, for one of its people; an organization, as a service (contract, section 2). */
export const agentScopes = ['personal', 'member', 'shared'] as const;

export type AgentScope = (typeof agentScopes)[number];

/** Who sees an agent: those who know it, or everybody. */
export const visibilities = ['private', 'public'] as const;

export type Visibility = (typeof visibilities)[number];

/** Who may write to an agent first; see policies/inbound.ts. */
export const inboundPolicies = ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const;

export type InboundPolicy = (typeof inboundPolicies)[number];
