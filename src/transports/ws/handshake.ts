import type { IncomingMessage } from 'node:http';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { bearerToken } from '../http/authenticate.ts';
import { requireFeedScope } from '../../realtime/feed-scopes.ts';
import type { Tokens } from '../../services/auth/tokens.ts';

/** What a request to open a connection asks for. */
export interface Handshake {
  token: string | undefined;
  /** Of the query; it does not count beside a token. */
  ticket: string | undefined;
  cursor: string | undefined;
}

/** Who knows the actors behind what a handshake shows. */
export interface HandshakeAuth {
  tokens: Pick<Tokens, 'verify'>;
  /** The actor behind a one-time ticket, which is used up by it. @throws {DomainError} UNAUTHORIZED */
  redeem(ticket: string): Promise<Actor>;
}

/** The subprotocol that carries a token: `Sec-WebSocket-Protocol: bearer, <token>`. */
export const tokenProtocol = 'bearer';

/**
 * Reads path, token or ticket, and cursor. Any Origin is accepted: a browser adds no credentials of its own to this handshake, so a
 * foreign page can only use a token that it was given.
 * @throws {DomainError} NOT_FOUND when the path is not /ws.
 */
export function readHandshake({ url, headers }: IncomingMessage): Handshake {
  const [path, query = ''] = (url ?? '').split('?', 2);
  if (path !== '/ws') throw new DomainError('NOT_FOUND', 'There is no WebSocket here; it is at /ws.');
  const [protocol, offered] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const token = bearerToken(headers.authorization) ?? (protocol === tokenProtocol ? offered : undefined);
  const asked = new URLSearchParams(query);
  const ticket = token ? undefined : asked.get('ticket');
  return { token: token || undefined, ticket: ticket ?? undefined, cursor: asked.get('cursor') ?? undefined };
}

/**
 * The actor behind a handshake.
 * @throws {DomainError} UNAUTHORIZED; INSUFFICIENT_SCOPE when the token may see no event of any kind.
 */
export async function authenticateHandshake(
  doors: HandshakeAuth,
  { token, ticket }: Handshake,
): Promise<Actor> {
  const actor = await findActor(doors, token, ticket);
  requireFeedScope(actor);
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
    'This needs the header Authorization: Bearer <access token>, the subprotocols bearer and the token, or a ticket of POST /v1/realtime/tickets.',
  );
}
