import type { Work } from '../../work/unit-of-work.ts';

interface Party {
  id: string;
  canonical_handle: string;
  display_name: string;
}

type Request = Awaited<ReturnType<Work['contactRequests']['insert']>>;

/** Emits contact.request to the addressee. */
export function emitRequested(work: Work, { request_id, from, to, message, created_at }: Request): void {
  work.emit({
    type: 'contact.request',
    recipients: [to.id],
    data: { request_id, from, message, created_at },
  });
}

/** Makes two agents contacts and emits contact.added to each. The caller has locked the pair; they are not contacts yet. */
export async function beginContact(work: Work, one: Party, other: Party): Promise<void> {
  await work.contacts.insert({ agent_id: one.id, contact_id: other.id, since: work.now });
  emitAdded(work, one.id, other);
  emitAdded(work, other.id, one);
}

function emitAdded(work: Work, recipient: string, { id, canonical_handle, display_name }: Party): void {
  const data = { agent_id: id, canonical_handle, display_name, favorite: false, since: work.now };
  work.emit({ type: 'contact.added', recipients: [recipient], data });
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
  if (!(await work.contacts.remove(agent_id, other.agent_id))) return false;
  const { agent_id: other_id, canonical_handle } = other;
  work.emit({
    type: 'contact.removed',
    recipients: [agent_id],
    data: { agent_id: other_id, canonical_handle },
  });
  work.emit({
    type: 'contact.removed',
    recipients: [other_id],
    data: { agent_id, canonical_handle: handle },
  });
  return true;
}
