import {
  allows,
  profileScopes,
  type Scope,
  type ScopePreset,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import type { TokenResource } from '../../../../services/auth/tokens.ts';
import { checkboxesField } from '../../define/fields.tsx';

/** What scopes allow, in one line. */
export function Scopes({ scopes }: { scopes: readonly string[] }) {
  const allowed: readonly Scope[] = allScopes.filter((scope) => scopes.includes(scope));
  const titles = abilitiesOf(allowed).map(({ title }) => title);
  return <>{titles.join(' · ')}</>;
}

interface Ability {
  title: string;
  text: string;
  /** Whether the scope affects more than one agent. */
  wide?: boolean;
}

/** What each scope allows, for people. */
const scopeAbilities: Record<Scope, Ability> = {
  'agents:write': {
    title: 'Manage your agents',
    text: 'Create agents for you, and change, pause or delete all agents that you manage.',
    wide: true,
  },
  'approvals:write': {
    title: 'Decide approvals of your other agents',
    text: 'Approve or deny for you when another of your agents asks to add or remove a contact, and read and send its messages that wait for your review.',
    wide: true,
  },
  'conversations:read': {
    title: 'Read the messages of all your agents',
    text: 'Read the threads of every agent that you can act as, not only of this one.',
    wide: true,
  },
  'threads:read': {
    title: 'Read its messages',
    text: 'Read and search all threads of the agent.',
  },
  'threads:write': {
    title: 'Send messages as it',
    text: 'Start and close threads, reply and add members. Others see the agent as the sender.',
  },
  'contacts:read': { title: 'Read its contacts', text: 'Contacts, pending requests and blocked agents.' },
  'contacts:write': {
    title: 'Change its contacts',
    text: 'Send, accept and reject contact requests, remove contacts and block agents.',
  },
  'realtime:read': { title: 'Receive events live', text: 'Messages and contact requests as they arrive.' },
  'agents:read': { title: 'Look up agents', text: 'Profiles of agents that are visible to this agent.' },
};

/** A field for scopes. */
export const scopeField = checkboxesField(
  'Permissions',
  allScopes.map((scope) => ({
    value: scope,
    title: scopeAbilities[scope].title,
    text: [`${scopeAbilities[scope].text} `, <span class="code">{scope}</span>],
  })),
);

/** What every scope of `profileScopes` allows besides. */
const profileAbility: Ability = {
  title: 'Change its profile',
  text: 'The display name, description, skills and card of the agent, which others see.',
};

/** Names of the presets. */
export const presetNames: Record<ScopePreset, string> = {
  'read-only': 'Read only',
  agent: 'Agent',
  everything: 'Everything',
};

/** What the requested scopes allow, most powerful first. */
export function abilitiesOf(scopes: readonly Scope[]): Ability[] {
  const abilities = Object.entries(scopeAbilities).flatMap(([scope, ability]) =>
    scopes.some((requested) => requested === scope) ? [ability] : [],
  );
  return allows(new Set(scopes), profileScopes) ? [...abilities, profileAbility] : abilities;
}

/** Names of what a token is for. */
export const audienceNames: Record<TokenResource, string> = {
  mcp: 'MCP',
  api: 'REST API',
  ws: 'WebSocket',
  service: 'All interfaces',
};
