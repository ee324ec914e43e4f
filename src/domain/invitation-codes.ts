import { randomBytes } from 'node:crypto';

/** Crockford's base 32: no letter that is taken for a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groups = 4;
const groupLength = 5;

/** A new code of 100 random bits, as it is shown: `7QX3M-…`, four groups of five. */
export function newInvitationCode(): string {
  const random = [...randomBytes(groups * groupLength)].map((byte) =>
    alphabet.charAt(byte % alphabet.length),
  );
  return Array.from({ length: groups }, (_, group) =>
    random.slice(group * groupLength, (group + 1) * groupLength).join(''),
  ).join('-');
}

/** A code as somebody typed it, in its one form: upper case, without dashes and spaces, letters that look like digits as digits. */
export function canonicalizeInvitationCode(typed: string): string {
  return typed
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
}
