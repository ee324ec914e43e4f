import { actionsOfKind, type AuditKind } from '../../../packages/core/src/domain/auth/audit.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';

/** One entry of the audit log, with the current names of the agents and people. Times in milliseconds. */
export type AuditLogEntry = Awaited<
  ReturnType<SystemWork['db']['auditLog']['listOfPerson']>
>['entries'][number];

export interface AuditFilter {
  /** The id of one agent. */
  agent_id?: string | undefined;
  kind?: AuditKind | undefined;
  /** Only entries before the one with this id. */
  before?: string | undefined;
  limit: number;
}

/** A page of the audit log. It can be empty although there is a next one, because a page reads a limited number of entries. */
export interface AuditPage {
  /** Newest first. */
  entries: AuditLogEntry[];
  /** The next page has ids before this one; undefined on the last page. */
  next: string | undefined;
}

/** How many entries of each agent are read to find those of a kind. */
const scanOfKind = { one: 2_000, all: 100 };

/**
 * Returns the actions by and on the agents that a person administers, and on the organizations of which the person is an admin, newest
 * first. Agents and organizations of others have no entries.
 */
export async function readAgentAudit(
  { db: { auditLog } }: ReadWork,
  account_id: string,
  { agent_id, kind, before, limit }: AuditFilter,
): Promise<AuditPage> {
  const scan = kind === undefined ? 0 : scanOfKind[agent_id === undefined ? 'all' : 'one'];
  const { entries, read_to } = await auditLog.listOfPerson({
    account_id,
    agent_id: agent_id ?? null,
    acts: kind === undefined ? null : actionsOfKind(kind),
    before: before ?? null,
    scan: Math.max(scan, limit + 1),
    limit: limit + 1,
  });
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? shown.at(-1)?.id : read_to;
  return { entries: shown, next: next ?? undefined };
}
