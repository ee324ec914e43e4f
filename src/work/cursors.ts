import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../packages/core/src/domain/errors.ts';

/** Length of the signature: 12 bytes as base64url. */
const macLength = 16;

/** Opaque, signed positions. A cursor is valid only for the list or feed that it was made for. */
export interface Cursors {
  /** A position in a list. `binding` names the operation, the caller and the filters. */
  encode(binding: string, position: readonly (string | number | null)[]): string;
  /** @throws {DomainError} INVALID_CURSOR when it is invalid or belongs to another list. */
  decode(binding: string, cursor: string): (string | number | null)[];
  /** A position in an agent's feed: after the event `number`. */
  encodeFeed(agentId: string, number: number): string;
  /** @throws {DomainError} INVALID_CURSOR when it is invalid or belongs to another agent. */
  decodeFeed(agentId: string, cursor: string): number;
}

/** Creates the cursors of a service. The signing key is derived from `secret`. */
export function createCursors(secret: string): Cursors {
  const key = createSecretKey(createHash('sha256').update(`cursors:${secret}`).digest());

  /** Built directly as text, because every event has a cursor for every recipient. */
  function mac(binding: string, payload: string): string {
    return createHmac('sha256', key).update(`${binding}\0${payload}`).digest('base64url').slice(0, macLength);
  }
  function seal(binding: string, payload: string): string {
    return `${Buffer.from(payload).toString('base64url')}.${mac(binding, payload)}`;
  }
  function unseal(binding: string, cursor: string): string {
    const payload = Buffer.from(cursor.split('.', 1)[0] ?? '', 'base64url').toString();
    // Compared as text: a base64url decoder ignores invalid characters.
    const received = Buffer.from(cursor);
    const expected = Buffer.from(seal(binding, payload));
    if (received.length !== expected.length || !timingSafeEqual(received, expected)) throw invalidCursor();
    return payload;
  }

  return {
    encode: (binding, position) => seal(`list:${binding}`, JSON.stringify(position)),
    decode: (binding, cursor) => JSON.parse(unseal(`list:${binding}`, cursor)) as (string | number | null)[],
    encodeFeed: (agentId, number) => seal(`feed:${agentId}`, String(number)),
    decodeFeed: (agentId, cursor) => Number(unseal(`feed:${agentId}`, cursor)),
  };
}

function invalidCursor(): DomainError {
  return new DomainError(
    'INVALID_CURSOR',
    'This cursor is invalid or belongs to another list; start without one.',
  );
}
