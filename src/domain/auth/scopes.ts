/** Scopes of `interface.md`, then our own for operations on which it is silent. */
export const scopes = [
  'contacts:read',
  'contacts:write',
  'threads:read',
  'threads:write',
  'agents:read',
  'agents:write',
  'realtime:read',
  'approvals:write',
] as const;

export type Scope = (typeof scopes)[number];

/**
 * What is offered to clients, and given to those that name nothing. Not to decide what other agents may do: who is to have that
 * must be told so by name.
 */
export const offeredScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'approvals:write');

const basicScopes: readonly Scope[] = scopes.slice(0, 4);

/** Whether a token with `granted` may call an operation that needs `required`. */
export function allows(granted: ReadonlySet<string>, required: Scope): boolean {
  if (granted.has(required)) return true;
  // A client that knows only the four scopes of interface.md may read agents with any of them (contract 3).
  return required === 'agents:read' && basicScopes.some((scope) => granted.has(scope));
}

/** Every scope that alone lets a token do what needs `required`; that one is the first. */
export function sufficientScopes(required: Scope): Scope[] {
  const others = scopes.filter((scope) => scope !== required && allows(new Set([scope]), required));
  return [required, ...others];
}
