import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { endContact } from './contact-events.ts';

/** Returns a page of the actor's contacts, in the order of their handles, with the other agents of its person. */
export async function listContacts(work: Work, request: PageRequest) {
  return readPage(work, request, {
    binding: ['list_contacts'],
    rows: (after: readonly [string] | null, limit) =>
      work.db.contacts.list(work.actor.agent_id, { after: after?.[0] ?? null, limit }),
    position: (contact) => [contact.canonical_handle],
  });
}

/**
 * Ends a contact on both sides and notifies both. The other agent may be hidden by now. Two agents of one person can still write to each
 * other.
 * @throws {DomainError} CONTACT_NOT_FOUND, whether the agent exists or not; INVALID_HANDLE
 */
export async function removeContact(work: Work, ref: string): Promise<void> {
  const contact = await work.db.contacts.find(work.actor.agent_id, parseAgentKey(ref));
  if (!contact) throw contactNotFound();
  await work.db.contacts.lockPair(work.actor.agent_id, contact.agent_id);
  if (!(await endContact(work, contact))) throw contactNotFound();
  work.changes.audit({
    act: 'contact.removed',
    agent_id: work.actor.agent_id,
    about: contact.canonical_handle,
  });
}

/**
 * Returns what people are asked to approve before a contact is removed.
 * @throws {DomainError} as removeContact
 */
export async function describeContactRemoval(work: Work, ref: string) {
  const contact = await work.db.contacts.find(work.actor.agent_id, parseAgentKey(ref));
  if (!contact) throw contactNotFound();
  return { target: contact.canonical_handle, message: null };
}

/**
 * Marks a contact as a favorite of the actor, or unmarks it. Only the actor receives an event, for its other clients. Without a change
 * there is no event.
 * @throws {DomainError} CONTACT_NOT_FOUND, whether the agent exists or not; INVALID_HANDLE
 */
export async function setFavorite(work: Work, ref: string, favorite: boolean): Promise<void> {
  const me = work.actor.agent_id;
  const contact = await work.db.contacts.find(me, parseAgentKey(ref));
  if (!contact) throw contactNotFound();
  if (contact.favorite === favorite) return;
  if (!(await work.db.contacts.setFavorite(me, contact.agent_id, favorite))) {
    if (!favorite) throw contactNotFound();
    await insertFavorite(work, contact.agent_id);
  }
  const { agent_id, canonical_handle } = contact;
  work.changes.emit({
    type: 'contact.updated',
    recipients: [me],
    data: { agent_id, canonical_handle, favorite },
  });
}

/** Inserts the rows of a contact that had none because of its owner, and marks it as a favorite. */
async function insertFavorite(work: Work, contact_id: string): Promise<void> {
  const { agent_id } = work.actor;
  await work.db.contacts.lockPair(agent_id, contact_id);
  const contact = await work.db.contacts.find(agent_id, contact_id);
  if (!contact) throw contactNotFound();
  if (await work.db.contacts.setFavorite(agent_id, contact_id, true)) return;
  await work.db.contacts.insert({ agent_id, contact_id, since: contact.since });
  await work.db.contacts.setFavorite(agent_id, contact_id, true);
}

function contactNotFound(): DomainError {
  return new DomainError('CONTACT_NOT_FOUND', 'This agent is not one of your contacts.');
}
