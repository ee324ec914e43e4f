import { DomainError } from '../../domain/errors.ts';
import { parseAllowlistEntry } from '../../domain/agents/handles.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

const maxEntries = 1000;

/**
 * Lets an agent, or every agent of an owner, write to the actor while its inbound policy is `allowlist`. Whether there is
 * anybody of that name makes no difference. Adding again changes nothing.
 * @throws {DomainError} INVALID_HANDLE; VALIDATION_ERROR beyond 1,000 entries
 */
export async function addAllowlistEntry(work: Work, given: string) {
  const { agent_id } = work.actor;
  const entry = parseAllowlistEntry(given);
  await work.allowlists.lock(agent_id);
  const before = await work.allowlists.find(agent_id, entry);
  if (before) return before;
  if ((await work.allowlists.count(agent_id)) >= maxEntries) {
    throw new DomainError('VALIDATION_ERROR', `An allowlist has at most ${maxEntries} entries.`);
  }
  const added = { entry, created_at: work.now };
  await work.allowlists.insert(agent_id, added);
  work.audit({ act: 'allowlist.added', agent_id, about: entry });
  return added;
}

/** @throws {DomainError} NOT_FOUND when it is not on the list; INVALID_HANDLE */
export async function removeAllowlistEntry(work: Work, given: string): Promise<void> {
  const { agent_id } = work.actor;
  const entry = parseAllowlistEntry(given);
  if (await work.allowlists.remove(agent_id, entry)) {
    work.audit({ act: 'allowlist.removed', agent_id, about: entry });
    return;
  }
  throw new DomainError('NOT_FOUND', 'This is not on your allowlist.');
}

/** A page of the actor's allowlist, in the order of its entries. */
export async function listAllowlist(work: Work, request: PageRequest) {
  const { rows, next_cursor } = await readPage(work, request, {
    binding: ['list_allowlist'],
    rows: (after: readonly [string] | null, limit) =>
      work.allowlists.list(work.actor.agent_id, { after: after?.[0] ?? null, limit }),
    position: (row) => [row.entry],
  });
  return { allowlist: rows, next_cursor };
}
