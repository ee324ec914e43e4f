import { relate } from './agents.ts';
import type { Agent } from '../core/records.ts';
import { type ErrorCode, ServiceError } from '../core/service-error.ts';

const policyErrors: Record<Agent['inbound_policy'], { code: ErrorCode; why: string }> = {
  contacts_only: { code: 'NOT_CONTACTS', why: 'accepts only contacts; request contact first' },
  trusted_only: { code: 'NOT_TRUSTED', why: 'accepts only contacts and agents of its owner or organization' },
  allowlist: { code: 'NOT_ALLOWED', why: 'accepts only contacts and agents on its allowlist' },
  open: { code: 'NOT_ALLOWED', why: 'does not accept messages from you' },
};

function policyError(to: Agent): ServiceError {
  const { code, why } = policyErrors[to.inbound_policy];
  return new ServiceError(code, `${to.canonical_handle} ${why}.`);
}

function requireNoOwnBlock(me: Agent, to: Agent): void {
  if (relate(me, to).blocked_by_me) {
    throw new ServiceError('BLOCKED', `You have blocked ${to.canonical_handle}; unblock it first.`);
  }
  if (!to.paused) return;
  const message = `${to.canonical_handle} is paused by its owner.`;
  throw new ServiceError('AGENT_PAUSED', message, { retry_after: 60 });
}

function isAdmitted(me: Agent, to: Agent): boolean {
  const { contact, same_owner, allowlisted } = relate(me, to);
  if (to.inbound_policy === 'open' || contact || same_owner) return true;
  return to.inbound_policy === 'allowlist' && allowlisted;
}

/**
 * Checks whether an agent can write to another one.
 * @param isInvited the other agent opened the thread: only a block or a pause prevents a reply.
 * @throws {ServiceError} BLOCKED, AGENT_PAUSED, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED
 */
export function requireAdmission(me: Agent, to: Agent, isInvited = false): void {
  requireNoOwnBlock(me, to);
  if (relate(me, to).blocked_by_them || !(isInvited || isAdmitted(me, to))) throw policyError(to);
}

/** Checks whether an agent can request contact. @throws {ServiceError} as requireAdmission */
export function requireRequestAllowed(me: Agent, to: Agent): void {
  requireNoOwnBlock(me, to);
  const { blocked_by_them, same_owner } = relate(me, to);
  const isOpen = to.inbound_policy === 'contacts_only' || to.inbound_policy === 'open';
  if (!isOpen && (blocked_by_them || !(same_owner || isAdmitted(me, to)))) throw policyError(to);
}

/**
 * Checks a message to the other members of a thread. In a group only a block prevents it.
 * @throws {ServiceError} as requireAdmission; AGENT_NOT_FOUND if the only other member is retired
 */
export function requireAudience(me: Agent, others: readonly Agent[], creatorId: string): void {
  for (const other of others) {
    if (others.length === 1 && other.is_retired) {
      const message = `${other.canonical_handle} is retired and cannot receive messages.`;
      throw new ServiceError('AGENT_NOT_FOUND', message);
    }
    if (other.is_retired) continue;
    if (others.length === 1) requireAdmission(me, other, creatorId === other.id);
    else if (relate(me, other).blocked_by_them) throw policyError(other);
  }
}
