import type { ContactRequestRow } from '../../repositories/contacts/requests.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';

interface Party {
  id: string;
  canonical_handle: string;
  display_name: string;
}

/** Emits contact.request to the addressee. Its people are notified. */
export function emitRequested(
  work: Work,
  { request_id, from, to, message, created_at }: ContactRequestRow,
): void {
  work.changes.emit({
    type: 'contact.request',
    recipients: [to.id],
    data: { request_id, from, message, created_at },
  });
  work.changes.enqueue(toNoticeJob(to.id, request_id));
}

/** Makes two agents contacts and emits contact.added to each. The caller has locked the pair; they have no contact rows yet. */
export async function beginContact(work: Work, one: Party, other: Party): Promise<void> {
  const { same_owner } = await work.db.contacts.insert({
    agent_id: one.id,
    contact_id: other.id,
    since: work.now,
  });
  emitAdded(work, [one.id], { ...other, same_owner });
  emitAdded(work, [other.id], { ...one, same_owner });
}

/**
 * Emits contact.added for a new agent to the other agents of its person, which are its contacts from now on. An agent of an
 * organization has no such contacts.
 */
export async function emitSameOwnerContact(work: SystemWork, agent: Party): Promise<void> {
  await work.db.contacts.lockOwner(agent.id);
  const recipients = await work.db.contacts.listSameOwnerIds(agent.id);
  if (recipients.length > 0) emitAdded(work, recipients, { ...agent, same_owner: true });
}

function emitAdded(
  work: SystemWork,
  recipients: string[],
  { id, canonical_handle, display_name, same_owner }: Party & { same_owner: boolean },
): void {
  const data = { agent_id: id, canonical_handle, display_name, favorite: false, same_owner, since: work.now };
  work.changes.emit({ type: 'contact.added', recipients, data });
}

/**
 * Ends the contact of the actor with another agent and emits contact.removed to both, without the reason. The caller has locked the
 * pair.
 * @returns whether they were contacts.
 */
export async function endContact(
  work: Work,
  other: { agent_id: string; canonical_handle: string },
): Promise<boolean> {
  const { agent_id, handle } = work.actor;
  if (!(await work.db.contacts.remove(agent_id, other.agent_id))) return false;
  const { agent_id: other_id, canonical_handle } = other;
  work.changes.emit({
    type: 'contact.removed',
    recipients: [agent_id],
    data: { agent_id: other_id, canonical_handle },
  });
  work.changes.emit({
    type: 'contact.removed',
    recipients: [other_id],
    data: { agent_id, canonical_handle: handle },
  });
  return true;
}
