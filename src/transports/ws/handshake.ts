import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { bearerToken } from '../http/authenticate.ts';
import { requireHost, useOriginForm } from '../http/server.ts';
import { requireFeedScope, requireOwnerScope } from '../../../packages/core/src/events/feed-scopes.ts';
import { handshakeQuery } from '../../../packages/core/src/inputs/events.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { Tokens } from '../../services/auth/tokens.ts';

/** The credentials and the cursor of a handshake. */
export interface Handshake {
  token: string | undefined;
  /** From the query; ignored when there is a token. */
  ticket: string | undefined;
  cursor: string | undefined;
  /** Whose events it gets. Absent: those of the agent. */
  watch: 'owner' | undefined;
}

/** Resolves the credentials of a handshake to an actor. */
export interface HandshakeAuth {
  tokens: Pick<Tokens, 'verify'>;
  /** Consumes a one-time ticket. @throws {DomainError} UNAUTHORIZED */
  redeem(ticket: string): Promise<Actor>;
}

/** The subprotocol that carries a token: `Sec-WebSocket-Protocol: bearer, <token>`. */
export const tokenProtocol = 'bearer';

/**
 * Reads path, token or ticket, cursor, and whose events are wanted. Any Origin is accepted: browsers add no credentials by themselves, so
 * a page can only use a token that it has.
 * @throws {DomainError} NOT_FOUND when the path is not /ws; VALIDATION_ERROR for an invalid Host or query.
 */
export function readHandshake(request: IncomingMessage): Handshake {
  useOriginForm(request);
  requireHost(request);
  const { url, headers } = request;
  const [path, query = ''] = (url ?? '').split('?', 2);
  if (path !== '/ws') throw new DomainError('NOT_FOUND', 'The WebSocket endpoint is /ws.');
  const [protocol, protocolToken] = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  const token =
    bearerToken(headers.authorization) ?? (protocol === tokenProtocol ? protocolToken : undefined);
  const { ticket, cursor, watch } = parseInput(handshakeQuery, parseQuery(query));
  return { token: token || undefined, ticket: token ? undefined : ticket, cursor, watch };
}

/**
 * Returns the actor of a handshake.
 * @throws {DomainError} UNAUTHORIZED; INSUFFICIENT_SCOPE when the token may not see any event type, or not those of the owner.
 */
export async function authenticateHandshake(
  auth: HandshakeAuth,
  { token, ticket, watch }: Handshake,
): Promise<Actor> {
  const actor = await findActor(auth, token, ticket);
  if (watch === 'owner') requireOwnerScope(actor);
  else requireFeedScope(actor);
  return actor;
}

function findActor(
  { tokens, redeem }: HandshakeAuth,
  token: string | undefined,
  ticket: string | undefined,
): Promise<Actor> {
  if (token !== undefined) return tokens.verify(token, 'ws');
  if (ticket !== undefined) return redeem(ticket);
  throw new DomainError(
    'UNAUTHORIZED',
    'Authentication required: send Authorization: Bearer <access token>, the subprotocols bearer and the token, or a ticket from POST /v1/realtime/tickets.',
  );
}
