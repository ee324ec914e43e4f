/** Crockford's base 32: no letter looks like a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groups = 4;
const groupLength = 5;

/** A new code with 100 random bits in four groups of five characters: `7QX3M-…`. */
export function newInvitationCode(): string {
  const random = [...crypto.getRandomValues(new Uint8Array(groups * groupLength))].map((byte) =>
    alphabet.charAt(byte % alphabet.length),
  );
  return Array.from({ length: groups }, (_, group) =>
    random.slice(group * groupLength, (group + 1) * groupLength).join(''),
  ).join('-');
}

/** Normalizes a typed code: upper case, no dashes or spaces, letters that look like digits become digits. */
export function canonicalizeInvitationCode(typed: string): string {
  return typed
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
}
