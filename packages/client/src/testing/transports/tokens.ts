import { createSecret } from '../core/clock.ts';
import { wakeReaders } from '../core/feed.ts';
import { endLeases } from '../core/inbox.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import { type Call, type State, storeFor } from '../core/state.ts';

export const tokenLifetimeMs = 15 * 60_000;
const ticketLifetimeMs = 60_000;

/** One-time tickets for the WebSocket, each with its token. */
const ticketsOf = storeFor<{ token: string; expires_at: number }>();

/** Issues an access token. @returns the token */
export function issueToken(
  state: State,
  agent_id: string,
  scopes: Iterable<string>,
  lifetimeMs = tokenLifetimeMs,
): string {
  const token = createSecret('fake_token');
  const expires_at = state.clock.now() + lifetimeMs;
  state.tokens.set(token, { agent_id, scopes: new Set(scopes), expires_at });
  return token;
}

/** Ends a token: its connections close, and the leases that it claimed end. */
export function revokeToken(state: State, token: string): void {
  const agent = state.agents.get(state.tokens.get(token)?.agent_id ?? '');
  state.tokens.delete(token);
  for (const listener of state.onTokensEnded) listener();
  if (!agent) return;
  endLeases(state, agent, token);
  wakeReaders(agent);
}

/** Issues a one-time ticket for the WebSocket. */
export function issueTicket({ state, token }: Call): object {
  const ticket = createSecret('fake_ticket');
  const expires_at = state.clock.now() + ticketLifetimeMs;
  ticketsOf(state).set(ticket, { token, expires_at });
  return { ticket, expires_at };
}

/** Returns the token of a ticket, once. */
export function redeemTicket(state: State, ticket: string): string | undefined {
  const found = ticketsOf(state).get(ticket);
  ticketsOf(state).delete(ticket);
  return found && found.expires_at > state.clock.now() ? found.token : undefined;
}

/** Whether a token is valid now. */
export function isValidToken(state: State, token: string): boolean {
  const found = state.tokens.get(token);
  return found !== undefined && found.expires_at > state.clock.now();
}

/** Starts a call with a token. @throws {DomainError} UNAUTHORIZED */
export function authenticate(state: State, token: string | undefined, signal: AbortSignal): Call {
  const found = token === undefined ? undefined : state.tokens.get(token);
  const me = found && state.agents.get(found.agent_id);
  if (token !== undefined && me && found.expires_at > state.clock.now())
    return { state, me, token, scopes: found.scopes, signal };
  throw new DomainError(
    'UNAUTHORIZED',
    token === undefined
      ? 'Authentication required: send the header Authorization: Bearer <access token>.'
      : 'This access token is unknown or was revoked; request a new one.',
  );
}

/** The token of an Authorization header. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([\w~+/.-]+=*)$/i.exec(header ?? '')?.[1];
}

/** The WWW-Authenticate header of a refusal; undefined when it is not about authentication. */
export function challengeFor(state: State, error: DomainError, hasToken: boolean): string | undefined {
  const parts = [`resource_metadata="${state.url}/v1/.well-known/oauth-protected-resource"`];
  if (error.code === 'INSUFFICIENT_SCOPE')
    parts.unshift('error="insufficient_scope"', `scope="${error.scope ?? ''}"`);
  else if (error.code !== 'UNAUTHORIZED') return undefined;
  else if (hasToken) parts.unshift('error="invalid_token"');
  return `Bearer ${parts.join(', ')}`;
}
