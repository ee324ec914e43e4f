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
] as const;

export type Scope = (typeof scopes)[number];

/** The scopes that clients are offered, and get when they request none. A client has to request `approvals:write` by name. */
export const offeredScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'approvals:write');

const basicScopes: readonly Scope[] = scopes.slice(0, 4);

/** Whether a token with the scopes `granted` may call an operation that needs `required`. */
export function allows(granted: ReadonlySet<string>, required: Scope): boolean {
  if (granted.has(required)) return true;
  // A client that knows only the four basic scopes can read agents with any of them.
  return required === 'agents:read' && basicScopes.some((scope) => granted.has(scope));
}

/** Every scope that is sufficient for `required`; `required` itself is the first. */
export function sufficientScopes(required: Scope): Scope[] {
  const others = scopes.filter((scope) => scope !== required && allows(new Set([scope]), required));
  return [required, ...others];
}
