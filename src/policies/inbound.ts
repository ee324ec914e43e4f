import type { InboundPolicy, Relation } from '../domain/agents/agents.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';

export interface Addressee {
  canonical_handle: string;
  inbound_policy: InboundPolicy;
  paused: boolean;
}

const refusals: Record<InboundPolicy, { code: ErrorCode; why: string }> = {
  contacts_only: { code: 'NOT_CONTACTS', why: 'accepts only its contacts; request contact first' },
  trusted_only: { code: 'NOT_TRUSTED', why: 'accepts only contacts and agents of its owner or organization' },
  allowlist: { code: 'NOT_ALLOWED', why: 'accepts only contacts and those on its allowlist' },
  open: { code: 'NOT_ALLOWED', why: 'does not accept this' },
};

/**
 * Whether an agent may write to another one: open a thread with it, add it to one, send in a thread of the two (contract,
 * section 2).
 * @param invited the other one opened the thread itself, so that only a block or a pause stands against an answer.
 * @returns the refusal, or null. A block made by the other side looks like the refusal that a stranger receives; only an own
 * block is named.
 */
export function checkInboundPolicy(to: Addressee, relation: Relation, invited = false): DomainError | null {
  return (
    checkBlockAndPause(to, relation) ??
    (!relation.blocked_by_them && (invited || isAdmitted(to.inbound_policy, relation))
      ? null
      : createPolicyError(to))
  );
}

/**
 * Whether a message may go out to this member of its thread. In a group the members vouch for one another, so that only a block
 * stands against a message there.
 * @param invited the member opened the thread itself.
 * @returns the refusal, or null; AGENT_NOT_FOUND when nobody is left to read the message.
 */
export function checkMessagePolicy(
  to: Addressee & Relation & { retired: boolean; alone: boolean },
  invited: boolean,
): DomainError | null {
  if (to.retired) {
    return to.alone
      ? new DomainError('AGENT_NOT_FOUND', `${to.canonical_handle} is retired and reads no messages.`)
      : null;
  }
  if (to.alone) return checkInboundPolicy(to, to, invited);
  return to.blocked_by_them ? createPolicyError(to) : null;
}

/**
 * Whether an agent may ask another one for contact. `contacts_only` and `open` take requests from everybody who sees them: a
 * request is how a stranger becomes a contact. `trusted_only` and `allowlist` keep strangers out here too; agents of one owner
 * or organization are never strangers.
 * @returns the refusal, or null. The request of a blocked agent is taken like a stranger's where a stranger's is, and never shown.
 */
export function checkRequestPolicy(to: Addressee, relation: Relation): DomainError | null {
  const { inbound_policy: policy } = to;
  const asked =
    policy === 'contacts_only' ||
    policy === 'open' ||
    (!relation.blocked_by_them && (isRelated(relation) || isAdmitted(policy, relation)));
  return checkBlockAndPause(to, relation) ?? (asked ? null : createPolicyError(to));
}

/** Whether a request between two agents needs nobody's approval (interface.md, Authentication, 5). */
export function isRelated(relation: Pick<Relation, 'same_owner' | 'same_organization'>): boolean {
  return relation.same_owner || relation.same_organization;
}

/** The refusal for what a paused agent would do itself. */
export function pausedActor(): DomainError {
  return new DomainError('AGENT_PAUSED', 'Your owner has paused you.', {
    retry_after: pausedRetryAfterSeconds,
  });
}

const pausedRetryAfterSeconds = 60;

function isAdmitted(policy: InboundPolicy, relation: Relation): boolean {
  if (policy === 'open' || relation.contact) return true;
  if (policy === 'trusted_only') return isRelated(relation);
  return policy === 'allowlist' && relation.allowlisted;
}

/** A pause comes before the policy: it is told to everybody alike, a blocked agent included. */
function checkBlockAndPause(to: Addressee, relation: Relation): DomainError | null {
  if (relation.blocked_by_viewer) {
    return new DomainError('BLOCKED', `You have blocked ${to.canonical_handle}; unblock it first.`);
  }
  if (!to.paused) return null;
  return new DomainError('AGENT_PAUSED', `${to.canonical_handle} is paused by its owner.`, {
    retry_after: pausedRetryAfterSeconds,
  });
}

function createPolicyError(to: Addressee): DomainError {
  const { code, why } = refusals[to.inbound_policy];
  return new DomainError(code, `${to.canonical_handle} ${why}.`);
}
