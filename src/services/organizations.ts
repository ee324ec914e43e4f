import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { ownerName, ownerNamed } from './owners.ts';

/**
 * Founds an organization.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createOrganization(work: Administration, slug: string) {
  const organization = { id: newId('organization'), name: ownerName(slug), created_at: work.now };
  await work.owners.insertOrganization(organization);
  return { id: organization.id, slug: organization.name, created_at: organization.created_at };
}

export interface Membership {
  slug: string;
  username: string;
  role: 'admin' | 'member';
}

/**
 * Makes a person a member of an organization, or gives a member another role.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR
 */
export async function addToOrganization(work: Administration, { slug, username, role }: Membership) {
  const organization = await ownerNamed(work, slug, 'organization');
  const account = await ownerNamed(work, username, 'account');
  await work.owners.putMember(organization.id, account.id, role, work.now);
  return { slug: organization.name, username: account.name, role };
}
