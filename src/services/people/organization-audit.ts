import type { AuditAction } from '../../domain/auth/audit.ts';
import { DomainError } from '../../domain/errors.ts';
import { isName } from '../../domain/agents/handles.ts';
import type { Person } from '../../domain/auth/actor.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { organizationNotFound } from '../access.ts';

export interface ReadOrganizationAudit {
  act?: AuditAction | undefined;
  /** Only of the agent of this handle. */
  handle?: string | undefined;
  /** Records before the one of this id. */
  before?: string | undefined;
  limit: number;
}

/**
 * What the audit log holds of an organization, newest first: what was done to its agents and by them, and who came, went and got
 * which role. What its people do elsewhere, such as signing in, is theirs. Times in milliseconds.
 * @throws {DomainError} NOT_FOUND, also when the person does not belong to it; FORBIDDEN for those who are not admins
 */
export async function readOrganizationAudit(
  { memberships, auditLog }: Pick<SystemWork, 'memberships' | 'auditLog'>,
  { account_id }: Pick<Person, 'account_id'>,
  slug: string,
  { act, handle, before, limit }: ReadOrganizationAudit,
) {
  const organization = isName(slug) ? await memberships.find(account_id, slug) : undefined;
  if (!organization) throw organizationNotFound();
  if (organization.role !== 'admin') {
    throw new DomainError('FORBIDDEN', `Only admins of ${organization.slug} may see that.`);
  }
  return auditLog.listOfOrganization({
    organization_id: organization.id,
    slug: organization.slug,
    act: act ?? null,
    handle: handle ?? null,
    before: before ?? null,
    limit,
  });
}
