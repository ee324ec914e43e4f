/** The scopes of tokens. */
export const scopes = [
  'contacts:read',
  'contacts:write',
  'threads:read',
  'threads:write',
  'agents:read',
  'agents:write',
  'realtime:read',
  'approvals:write',
  'conversations:read',
] as const;

export type Scope = (typeof scopes)[number];

/** Scopes that reach beyond one agent: a client has to request them by name. */
const unofferedScopes: ReadonlySet<Scope> = new Set(['approvals:write', 'conversations:read']);

/** The scopes that clients are offered. */
export const offeredScopes: readonly Scope[] = scopes.filter((scope) => !unofferedScopes.has(scope));

/** What an agent needs to read, write and keep contacts. The default of an app that names no scopes. */
export const basicScopes: readonly Scope[] = scopes.slice(0, 4);

/** Named sets of scopes, for the command line and the console. */
export const scopePresets = {
  'read-only': basicScopes.filter((scope) => scope.endsWith(':read')),
  agent: [...basicScopes, 'agents:read', 'realtime:read'],
  everything: scopes,
} as const satisfies Record<string, readonly Scope[]>;

export type ScopePreset = keyof typeof scopePresets;

/** Whether a text names a preset. */
export function isScopePreset(name: string): name is ScopePreset {
  return Object.hasOwn(scopePresets, name);
}

/** The known scopes in the text of a request; others are ignored (RFC 6749, section 3.3). */
export function knownScopes(text: string): Scope[] {
  const names = new Set(text.split(' '));
  return scopes.filter((scope) => names.has(scope));
}

/** A scope, or several of which one is sufficient. */
export type RequiredScope = Scope | readonly Scope[];

/** The scopes that let an agent change its own profile: read-only tokens must not. The least powerful are first. */
export const profileScopes: readonly Scope[] = ['threads:write', 'contacts:write', 'agents:write'];

/** Whether a token with the scopes `granted` may call an operation that needs `required`. */
export function allows(granted: ReadonlySet<string>, required: RequiredScope): boolean {
  if (typeof required !== 'string') return required.some((scope) => granted.has(scope));
  if (granted.has(required)) return true;
  // A client that knows only the four basic scopes can read agents with any of them.
  return required === 'agents:read' && basicScopes.some((scope) => granted.has(scope));
}

/** Every scope that is sufficient for `required`; `required` itself is the first. */
export function sufficientScopes(required: RequiredScope): readonly Scope[] {
  if (typeof required !== 'string') return required;
  const others = scopes.filter((scope) => scope !== required && allows(new Set([scope]), required));
  return [required, ...others];
}
