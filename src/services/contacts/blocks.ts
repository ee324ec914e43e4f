import type { BlockRow } from '../../repositories/contacts/blocks.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { parseAgentKey, requireOtherAgent } from '../access.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { emitRequested, endContact } from './contact-events.ts';

export interface BlockAgent {
  /** Handle or id. */
  handle: string;
  reason: string | null;
}

/**
 * Blocks an agent: ends the contact with it and withdraws the actor's pending request. The blocked agent is not notified of the block,
 * and its own requests stay in its list unchanged. Blocking again changes nothing.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (the actor itself)
 */
export async function blockAgent(work: Work, { handle, reason }: BlockAgent): Promise<BlockRow> {
  const { agent_id } = work.actor;
  // A blocked agent may be hidden by now; it stays blocked.
  const before = await work.db.blocks.find(agent_id, parseAgentKey(handle));
  if (before) return before;
  const other = await requireOtherAgent(work, handle);
  await work.db.contacts.lockPair(agent_id, other.id);
  const meanwhile = await work.db.blocks.find(agent_id, other.id);
  if (meanwhile) return meanwhile;
  const block = { blocked_agent_id: other.id, created_at: work.now };
  await work.db.blocks.insert({ agent_id, ...block, reason });
  work.changes.audit({ act: 'agent.blocked', agent_id, about: other.canonical_handle });
  await work.db.contactRequests.withdraw(agent_id, other.id, work.now);
  await endContact(work, { agent_id: other.id, canonical_handle: other.canonical_handle });
  return { ...block, blocked_handle: other.canonical_handle };
}

/**
 * Ends a block, also of an agent that is hidden or retired by now. The contact is not restored. A request that
 * arrived during the block is announced now.
 * @param ref id or handle of the blocked agent.
 * @throws {DomainError} NOT_FOUND if the actor does not block it, whether it exists or not; INVALID_HANDLE
 */
export async function unblockAgent(work: Work, ref: string): Promise<void> {
  const { agent_id } = work.actor;
  const block = await work.db.blocks.find(agent_id, parseAgentKey(ref));
  if (!block) throw notBlocked();
  const other_id = block.blocked_agent_id;
  await work.db.contacts.lockPair(agent_id, other_id);
  if (!(await work.db.blocks.remove(agent_id, other_id))) throw notBlocked();
  work.changes.audit({ act: 'agent.unblocked', agent_id, about: block.blocked_handle });
  const request = await work.db.contactRequests.announce(other_id, agent_id);
  if (request) emitRequested(work, request);
}

function notBlocked(): DomainError {
  return new DomainError('NOT_FOUND', 'You have not blocked this agent.');
}

/** Returns a page of the actor's blocks, newest first. */
export async function listBlocks(work: Work, request: PageRequest) {
  return readPage(work, request, {
    binding: ['list_blocks'],
    rows(after: readonly [number, string] | null, limit) {
      const before = after && { created_at: after[0], id: after[1] };
      return work.db.blocks.list(work.actor.agent_id, { before, limit });
    },
    position: (block) => [block.created_at, block.blocked_agent_id],
  });
}
