import { hash, timingSafeEqual } from 'node:crypto';
import { DomainError } from './errors.ts';

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
  const mac = signer(hash('sha256', `cursors:${secret}`, 'buffer'));
  function seal(binding: string, payload: string): string {
    return `${Buffer.from(payload).toString('base64url')}.${mac(`${binding}\0${payload}`)}`;
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

/** Bytes that SHA-256 takes at a time, and that it makes. */
const blockBytes = 64;
const hashBytes = 32;

/**
 * HMAC-SHA256 (RFC 2104) under one key, as text and cut short. Every event has a cursor of its own for every receiver, and two plain
 * hashes take half the time of an Hmac object, which the garbage collector must see off too.
 */
function signer(key: Buffer): (text: string) => string {
  const inner = padded(key, 0x36);
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(hashBytes)]);
  return (text) => {
    const message = Buffer.allocUnsafe(blockBytes + Buffer.byteLength(text));
    message.set(inner);
    message.write(text, blockBytes);
    outer.write(hash('sha256', message, 'binary'), blockBytes, 'binary');
    return hash('sha256', outer, 'base64url').slice(0, macLength);
  };
}

function padded(key: Buffer, pad: number): Buffer {
  return Buffer.from(Array.from({ length: blockBytes }, (_, index) => (key[index] ?? 0) ^ pad));
}

function invalid(): DomainError {
  return new DomainError(
    'INVALID_CURSOR',
    'This cursor is broken or belongs to another list; start without one.',
  );
}
