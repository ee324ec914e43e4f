import { DomainError } from '../errors.ts';

const part = '[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?';
const handlePattern = new RegExp(`^(${part})\\.(${part})$`);
const namePattern = new RegExp(`^${part}$`);

export interface Handle {
  owner: string;
  name: string;
  /** `owner.agent_name`, lower case, without `@`. */
  canonical: string;
}

/** The rule of `isName`, as the end of a sentence that begins with the name of a field. */
export const nameRule = 'has 1 to 32 of a-z, 0-9, - and _, with a letter or digit at both ends';

/** Whether `value` is a valid name of an owner or an agent. */
export function isName(value: string): boolean {
  return namePattern.test(value);
}

/** Whether `value` is a handle in its canonical form. */
export function isHandle(value: string): boolean {
  return handlePattern.test(value);
}

/**
 * Parses a handle in any case, with or without a leading `@`.
 * @throws {DomainError} INVALID_HANDLE
 */
export function parseHandle(value: string): Handle {
  const canonical = value.trim().replace(/^@/, '').toLowerCase();
  const match = handlePattern.exec(canonical);
  if (!match?.[1] || !match[2]) {
    throw new DomainError(
      'INVALID_HANDLE',
      `Invalid handle: ${value.slice(0, 80)}. A handle has the form owner.agent_name.`,
    );
  }
  return { owner: match[1], name: match[2], canonical };
}

const everyAgentPattern = new RegExp(`^${part}\\.\\*$`);

/**
 * Parses an allowlist entry: a handle, or `owner.*` for every agent of an owner; in any case, with or without a leading `@`.
 * @returns its canonical form.
 * @throws {DomainError} INVALID_HANDLE
 */
export function parseAllowlistEntry(value: string): string {
  const canonical = value.trim().replace(/^@/, '').toLowerCase();
  if (handlePattern.test(canonical) || everyAgentPattern.test(canonical)) return canonical;
  throw new DomainError(
    'INVALID_HANDLE',
    `Invalid entry: ${value.slice(0, 80)}. An entry has the form owner.agent_name or owner.*.`,
  );
}
