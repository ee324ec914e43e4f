import type { AuditAction } from '../../packages/core/src/domain/auth/audit.ts';
import { isName } from '../../packages/core/src/domain/agents/handles.ts';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import type { ReadWork, SystemWork } from '../work/unit-of-work.ts';
import { findAnyAgentByHandle } from './agents/find-by-handle.ts';
import { requireOwner } from './people/owners.ts';

export interface ReadAudit {
  /** Only records by or about this agent. */
  handle?: string | undefined;
  /** Only records by or about this person. */
  username?: string | undefined;
  act?: AuditAction | undefined;
  /** Milliseconds since the epoch. */
  since?: number | undefined;
  limit: number;
}

/**
 * Returns records of the audit log, newest first. Times in milliseconds.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, NOT_FOUND (the person)
 */
export async function readAudit(work: ReadWork, { handle, username, act, since = 0, limit }: ReadAudit) {
  const agent = handle === undefined ? null : await findAnyAgentByHandle(work, handle);
  const account = username === undefined ? null : await requireOwner(work, username, 'account');
  const rows = await work.db.auditLog.list({
    agent_id: agent?.id ?? null,
    account_id: account?.id ?? null,
    act: act ?? null,
    from: minIdAt('audit', since),
    before: null,
    limit,
  });
  return rows.map(
    ({ id, act: action, at, by_kind, by_name, transport, client_id, about, detail, ...row }) => ({
      id,
      at,
      act: action,
      by: by_kind,
      by_name,
      transport,
      client_id,
      agent: row.handle,
      person: row.username,
      about,
      detail,
    }),
  );
}

/**
 * Records a failed sign-in. Unknown usernames are recorded too, so that the response takes equally long, but without the name, because
 * people type passwords there by mistake.
 */
export async function auditFailedSignIn(work: SystemWork, username: string, address: string): Promise<void> {
  const name = username.trim().toLowerCase();
  const account = await work.db.accounts.findByName(isName(name) ? name : '');
  work.changes.audit({
    act: 'sign_in.failed',
    ...(account && { account_id: account.id }),
    detail: { address },
  });
}
