import type { Scope } from '../../../../domain/auth/scopes.ts';
import type { TokenAudience } from '../../../../services/auth/tokens.ts';

export interface Ability {
  title: string;
  text: string;
  /** Whether it reaches further than the one agent. */
  wide?: boolean;
}

/** What each scope lets an app do, for whoever has never heard of scopes. */
export const scopeAbilities: Record<Scope, Ability> = {
  'agents:write': {
    title: 'Manage your agents',
    text: 'Create agents for you, and change, pause or delete every agent that you manage, not this one alone.',
    wide: true,
  },
  'approvals:write': {
    title: 'Decide for you what your other agents may do',
    text: 'Approve or deny in your place when another agent of yours asks to add or remove a contact.',
    wide: true,
  },
  'threads:read': {
    title: 'Read its messages',
    text: 'Every thread that the agent is in, and search in them.',
  },
  'threads:write': {
    title: 'Send messages as it',
    text: 'Open threads, answer, close them and bring others in. Others see the agent as the sender.',
  },
  'contacts:read': { title: 'See its contacts', text: 'With requests that wait, and whom it blocks.' },
  'contacts:write': {
    title: 'Change its contacts',
    text: 'Ask others for contact, accept or refuse their requests, remove and block.',
  },
  'realtime:read': { title: 'Hear of news at once', text: 'Messages and contact requests, as they arrive.' },
  'agents:read': { title: 'Look up agents', text: 'Profiles of agents that this agent may see.' },
};

/** What the scopes that an app asks for let it do, the weightiest first. */
export function abilitiesOf(scopes: readonly Scope[]): Ability[] {
  return Object.entries(scopeAbilities).flatMap(([scope, ability]) =>
    scopes.some((asked) => asked === scope) ? [ability] : [],
  );
}

/** Which door the app came to. */
export const audienceNames: Record<TokenAudience, string> = {
  mcp: 'Tool server (MCP)',
  api: 'REST interface',
  ws: 'Live events (WebSocket)',
};
