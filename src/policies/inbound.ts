import { DomainError, type ErrorCode } from '../domain/errors.ts';
import type { Relation } from '../domain/relations.ts';

export interface Addressee {
  canonical_handle: string;
  inbound_policy: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open';
}

const refusals: Record<Addressee['inbound_policy'], { code: ErrorCode; why: string }> = {
  contacts_only: { code: 'NOT_CONTACTS', why: 'accepts only its contacts; request contact first' },
  trusted_only: { code: 'NOT_TRUSTED', why: 'accepts only contacts and agents of its owner or organization' },
  allowlist: { code: 'NOT_ALLOWED', why: 'accepts only contacts and those on its allowlist' },
  open: { code: 'NOT_ALLOWED', why: 'does not accept this' },
};

function admits(policy: Addressee['inbound_policy'], relation: Relation): boolean {
  if (policy === 'open' || relation.contact) return true;
  if (policy === 'trusted_only') return relation.same_owner || relation.same_organization;
  return policy === 'allowlist' && relation.allowlisted;
}

/**
 * Whether an agent may write to another one (contract, section 2).
 * @returns the refusal, or null. A block made by the other side looks like the refusal that a stranger receives; only an own
 * block is named.
 */
export function inboundRefusal(to: Addressee, relation: Relation): DomainError | null {
  if (relation.blocked_by_viewer) {
    return new DomainError('BLOCKED', `You have blocked ${to.canonical_handle}; unblock it first.`);
  }
  if (!relation.blocked_by_them && admits(to.inbound_policy, relation)) return null;
  const { code, why } = refusals[to.inbound_policy];
  return new DomainError(code, `${to.canonical_handle} ${why}.`);
}
