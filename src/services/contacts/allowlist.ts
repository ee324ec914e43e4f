import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { parseAllowlistEntry } from '../../../packages/core/src/domain/agents/handles.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

const maxEntries = 1000;

/**
 * Adds an agent, or all agents of an owner, to the actor's allowlist. The name need not exist. Adding an entry again changes nothing.
 * @throws {DomainError} INVALID_HANDLE; VALIDATION_ERROR beyond 1,000 entries
 */
export async function addAllowlistEntry(work: Work, input: string) {
  const { agent_id } = work.actor;
  const entry = parseAllowlistEntry(input);
  await work.db.allowlists.lock(agent_id);
  const before = await work.db.allowlists.find(agent_id, entry);
  if (before) return before;
  if ((await work.db.allowlists.count(agent_id)) >= maxEntries) {
    throw new DomainError(
      'VALIDATION_ERROR',
      `An allowlist can have at most ${maxEntries} entries; remove one first.`,
    );
  }
  const row = { entry, created_at: work.now };
  await work.db.allowlists.insert(agent_id, row);
  work.changes.audit({ act: 'allowlist.added', agent_id, about: entry });
  return row;
}

/** Removes an entry from the actor's allowlist. @throws {DomainError} NOT_FOUND, INVALID_HANDLE */
export async function removeAllowlistEntry(work: Work, input: string): Promise<void> {
  const { agent_id } = work.actor;
  const entry = parseAllowlistEntry(input);
  if (await work.db.allowlists.remove(agent_id, entry)) {
    work.changes.audit({ act: 'allowlist.removed', agent_id, about: entry });
    return;
  }
  throw new DomainError('NOT_FOUND', 'This entry is not on your allowlist.');
}

/** Returns all entries of the actor's allowlist, in their order. */
export async function listEntries({ db: { allowlists }, actor }: Work): Promise<string[]> {
  const rows = await allowlists.list(actor.agent_id, { after: null, limit: maxEntries });
  return rows.map(({ entry }) => entry);
}

/** Returns a page of the actor's allowlist, in the order of its entries. */
export async function listAllowlist(work: Work, request: PageRequest) {
  return readPage(work, request, {
    binding: ['list_allowlist'],
    rows: (after: readonly [string] | null, limit) =>
      work.db.allowlists.list(work.actor.agent_id, { after: after?.[0] ?? null, limit }),
    position: (row) => [row.entry],
  });
}
