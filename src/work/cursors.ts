import { createHash } from 'node:crypto';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { Secrets } from '../shared/encryption.ts';
import { createSigner } from '../shared/signer.ts';

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

/** Creates the cursors of a service. */
export function createCursors([secret, ...older]: Secrets): Cursors {
  const toKey = (source: string) => createHash('sha256').update(`cursors:${source}`).digest();
  const signer = createSigner([toKey(secret), ...older.map(toKey)], macLength);
  const encode = (payload: string) => Buffer.from(payload).toString('base64url');

  function seal(binding: string, payload: string): string {
    return `${encode(payload)}.${signer.sign(`${binding}\0${payload}`)}`;
  }
  function unseal(binding: string, cursor: string): string {
    const encoded = cursor.slice(0, Math.max(0, cursor.indexOf('.')));
    const payload = Buffer.from(encoded, 'base64url').toString();
    const signature = cursor.slice(encoded.length + 1);
    if (encode(payload) !== encoded || !signer.verify(`${binding}\0${payload}`, signature))
      throw invalidCursor();
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
