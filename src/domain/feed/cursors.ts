import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../errors.ts';

/** Characters of the signature: 12 bytes as base64url. */
const macLength = 16;

/** Opaque, signed positions. A cursor is bound to what it was made for and refused anywhere else. */
export interface Cursors {
  /** A position in a list: `binding` names the operation, the caller and the filters. */
  encode(binding: string, position: readonly (string | number | null)[]): string;
  /** @throws {DomainError} INVALID_CURSOR when it is broken, foreign or of another list. */
  decode(binding: string, cursor: string): (string | number | null)[];
  /** A position in an agent's feed: every event up to and including `number` is behind it. */
  encodeFeed(agentId: string, number: number): string;
  /** @throws {DomainError} INVALID_CURSOR when it is broken or of another agent. */
  decodeFeed(agentId: string, cursor: string): number;
}

export function createCursors(secret: string): Cursors {
  const key = createSecretKey(createHash('sha256').update(`cursors:${secret}`).digest());

  /** In one piece and straight to text: every event has a cursor of its own for every receiver. */
  function mac(binding: string, payload: string): string {
    return createHmac('sha256', key).update(`${binding}\0${payload}`).digest('base64url').slice(0, macLength);
  }
  function seal(binding: string, payload: string): string {
    return `${Buffer.from(payload).toString('base64url')}.${mac(binding, payload)}`;
  }
  function unseal(binding: string, cursor: string): string {
    const payload = Buffer.from(cursor.split('.', 1)[0] ?? '', 'base64url').toString();
    // Whole and as it was written: decoding alone would pass over what is no base64url.
    const given = Buffer.from(cursor);
    const right = Buffer.from(seal(binding, payload));
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw invalid();
    return payload;
  }

  return {
    encode: (binding, position) => seal(`list:${binding}`, JSON.stringify(position)),
    decode: (binding, cursor) => JSON.parse(unseal(`list:${binding}`, cursor)) as (string | number | null)[],
    encodeFeed: (agentId, number) => seal(`feed:${agentId}`, String(number)),
    decodeFeed: (agentId, cursor) => Number(unseal(`feed:${agentId}`, cursor)),
  };
}

function invalid(): DomainError {
  return new DomainError(
    'INVALID_CURSOR',
    'This cursor is broken or belongs to another list; start without one.',
  );
}
