import type { AuditAction } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { loadOrganization, requireAdmin } from './memberships.ts';

export interface ReadOrganizationAudit {
  act?: AuditAction | undefined;
  /** Only records about the agent with this handle. */
  handle?: string | undefined;
  /** Only records before the one with this id. */
  before?: string | undefined;
  limit: number;
}

/**
 * Returns the audit log of an organization, newest first: actions by and on its agents, and changes of its members. Personal actions of
 * its members, such as signing in, are not included. Times in milliseconds.
 * @throws {DomainError} NOT_FOUND, also if the person is not a member; FORBIDDEN if the person is not an admin
 */
export async function readOrganizationAudit(
  work: ReadWork,
  by: Pick<Person, 'account_id'>,
  slug: string,
  { act, handle, before, limit }: ReadOrganizationAudit,
) {
  const organization = await loadOrganization(work, by, slug);
  requireAdmin(organization);
  return work.db.auditLog.listOfOrganization({
    organization_id: organization.id,
    slug: organization.slug,
    act: act ?? null,
    handle: handle ?? null,
    before: before ?? null,
    limit,
  });
}
