import type { InboundPolicy, Relation } from '../domain/agents/agents.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';

export interface Addressee {
  canonical_handle: string;
  inbound_policy: InboundPolicy;
  paused: boolean;
}

const policyErrors: Record<InboundPolicy, { code: ErrorCode; why: string }> = {
  contacts_only: { code: 'NOT_CONTACTS', why: 'accepts only contacts; request contact first' },
  trusted_only: { code: 'NOT_TRUSTED', why: 'accepts only contacts and agents of its owner or organization' },
  allowlist: { code: 'NOT_ALLOWED', why: 'accepts only contacts and agents on its allowlist' },
  open: { code: 'NOT_ALLOWED', why: 'does not accept messages from you' },
};

/**
 * Checks whether an agent can write to another one: open a thread with it, add it to a thread, or send in a thread of the two.
 * @param invited the other agent opened the thread, so only a block or a pause prevents a reply.
 * @returns the error, or null. A block by the other side looks like the policy error that a stranger gets; only the sender's own block is
 * reported as BLOCKED.
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
 * Checks whether a message can be sent to this member of its thread. In a group only a block prevents it, because membership implies
 * consent.
 * @param invited the member opened the thread.
 * @returns the error, or null; AGENT_NOT_FOUND if the only other member is retired.
 */
export function checkMessagePolicy(
  to: Addressee & Relation & { retired: boolean; alone: boolean },
  invited: boolean,
): DomainError | null {
  if (to.retired) {
    return to.alone
      ? new DomainError('AGENT_NOT_FOUND', `${to.canonical_handle} is retired and cannot receive messages.`)
      : null;
  }
  if (to.alone) return checkInboundPolicy(to, to, invited);
  return to.blocked_by_them ? createPolicyError(to) : null;
}

/**
 * Checks whether an agent can request contact. `contacts_only` and `open` accept requests from everyone who sees the agent.
 * `trusted_only` and `allowlist` refuse strangers here too. Agents of one owner or organization are never strangers.
 * @returns the error, or null. The request of a blocked agent is accepted where a stranger's is, but never shown.
 */
export function checkRequestPolicy(to: Addressee, relation: Relation): DomainError | null {
  const { inbound_policy: policy } = to;
  const isAccepted =
    policy === 'contacts_only' ||
    policy === 'open' ||
    (!relation.blocked_by_them && (isRelated(relation) || isAdmitted(policy, relation)));
  return checkBlockAndPause(to, relation) ?? (isAccepted ? null : createPolicyError(to));
}

/** Whether contact between two agents needs no approval: they have the same owner or organization. */
export function isRelated(relation: Pick<Relation, 'same_owner' | 'same_organization'>): boolean {
  return relation.same_owner || relation.same_organization;
}

/** Returns the error for an action of a paused agent. */
export function pausedActor(): DomainError {
  return new DomainError('AGENT_PAUSED', 'Your owner has paused this agent; retry after it is resumed.', {
    retry_after: pausedRetryAfterSeconds,
  });
}

const pausedRetryAfterSeconds = 60;

/** Agents of the same person can always write to each other, whatever their policies are. */
function isAdmitted(policy: InboundPolicy, relation: Relation): boolean {
  if (policy === 'open' || relation.contact || relation.same_owner) return true;
  if (policy === 'trusted_only') return relation.same_organization;
  return policy === 'allowlist' && relation.allowlisted;
}

/** A pause takes precedence over the policy and is reported to everyone, including blocked agents. */
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
  const { code, why } = policyErrors[to.inbound_policy];
  return new DomainError(code, `${to.canonical_handle} ${why}.`);
}
