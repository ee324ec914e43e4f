import type { IncomingMessage } from 'node:http';
import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { bearerToken } from '../http/authenticate.ts';
import { requireFollowing } from '../realtime/following.ts';
import type { Tokens } from '../services/tokens.ts';

/** What a request to open a connection asks for. */
export interface Handshake {
  token: string | undefined;
  cursor: string | undefined;
}

/** The subprotocol that carries a token: `Sec-WebSocket-Protocol: bearer, <token>`. */
export const tokenProtocol = 'bearer';

/**
 * Reads path, token and cursor. Any Origin is accepted: a browser adds no credentials of its own to this handshake, so a
 * foreign page can only use a token that it was given.
 * @throws {DomainError} NOT_FOUND when the path is not /ws.
 */
export function readHandshake({ url, headers }: IncomingMessage): Handshake {
  const [path, query = ''] = (url ?? '').split('?', 2);
  if (path !== '/ws') throw new DomainError('NOT_FOUND', 'There is no WebSocket here; it is at /ws.');
  const [protocol, offered] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const token = bearerToken(headers.authorization) ?? (protocol === tokenProtocol ? offered : undefined);
  return { token: token || undefined, cursor: new URLSearchParams(query).get('cursor') ?? undefined };
}

/**
 * The actor behind a handshake.
 * @throws {DomainError} UNAUTHORIZED; INSUFFICIENT_SCOPE when the token may see no event of any kind.
 */
export async function admit(tokens: Pick<Tokens, 'verify'>, token: string | undefined): Promise<Actor> {
  if (token === undefined) {
    throw new DomainError(
      'UNAUTHORIZED',
      'This needs the header Authorization: Bearer <access token>, or the subprotocols bearer and the token.',
    );
  }
  const actor = await tokens.verify(token, 'ws');
  requireFollowing(actor);
  return actor;
}
