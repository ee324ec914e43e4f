import type { FoundThreadRow } from '../repositories/threads/threads.ts';
import type { AgentRow, SeenAgentRow } from '../repositories/agents/agents.ts';
import type { ViewedAgentRow } from '../repositories/agents/managed-agents.ts';
import { DomainError, wrongField } from '../../packages/core/src/domain/errors.ts';
import { parseHandle } from '../../packages/core/src/domain/agents/handles.ts';
import { isId } from '../../packages/core/src/domain/ids.ts';
import {
  type AgentScope,
  type Relationship,
  relationshipOf,
} from '../../packages/core/src/domain/agents/agents.ts';
import type { Work } from '../work/unit-of-work.ts';

/**
 * Returns a thread of which the actor is a member.
 * @param lock lock the thread until the transaction ends.
 * @throws {DomainError} THREAD_NOT_FOUND, the same for an absent thread and for one of others
 */
export async function requireThread(work: Work, id: string, { lock = false } = {}): Promise<FoundThreadRow> {
  const find = lock ? work.db.threads.lockForMember : work.db.threads.findForMember;
  const thread = isId('thread', id) ? await find(id, work.actor.agent_id) : undefined;
  if (!thread) throw threadNotFound();
  return thread;
}

/** The refusal for a thread that does not exist or that the actor is not a member of. */
export function threadNotFound(): DomainError {
  return new DomainError('THREAD_NOT_FOUND', 'No such thread, or you are not a member of it.');
}

/**
 * Returns agents by handle or id, in the given order, each with its relation to the actor.
 * @throws {DomainError} AGENT_NOT_FOUND if one does not exist or is hidden from the actor; INVALID_HANDLE
 */
export async function requireAgents(work: Work, refs: readonly string[]): Promise<SeenAgentRow[]> {
  const keys = refs.map(parseAgentKey);
  const seen = await work.db.agents.findSeen(work.actor.agent_id, keys);
  return keys.map((key, index) => {
    const agent = seen.find(({ id, canonical_handle }) => id === key || canonical_handle === key);
    if (!agent?.visible)
      throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${refs[index]?.slice(0, 80)}`);
    return agent;
  });
}

/**
 * Returns an agent other than the actor, by id or handle, with its relation to the actor.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (the actor itself)
 */
export async function requireOtherAgent(work: Work, ref: string): Promise<SeenAgentRow> {
  const [agent] = await requireAgents(work, [ref]);
  if (agent && !agent.self) return agent;
  throw wrongField('handle', 'must not be your own handle');
}

/**
 * Returns an agent by id or handle that is visible to the actor or managed by it.
 * @throws {DomainError} AGENT_NOT_FOUND, the same for hidden, retired and absent agents; INVALID_HANDLE, which depends on the text alone
 */
export async function requireAgent(work: Work, ref: string): Promise<ViewedAgentRow> {
  // A malformed id finds nothing, like an unknown one; it is not an invalid handle.
  const key = /^agt_[^.]*$/.test(ref) ? ref : parseAgentKey(ref);
  const agent = await work.db.managedAgents.findSeen(work.actor.agent_id, key);
  if (!agent || !(agent.visible || agent.managed)) throw agentNotFound();
  return agent;
}

/**
 * Returns an agent that the actor manages, locked until the transaction ends. In the console, the person manages it, whatever agent they act as.
 * @throws {DomainError} AGENT_NOT_FOUND if the actor cannot see it, FORBIDDEN if it sees but does not manage it; INVALID_HANDLE
 */
export async function requireManagedAgent(work: Work, ref: string): Promise<AgentRow> {
  const { id, managed, scope } = await requireAgent(work, ref);
  const { account_id } = work.actor;
  const isManaged = account_id === undefined ? managed : await work.db.personAgents.find(account_id, id);
  if (!isManaged) throw new DomainError('FORBIDDEN', 'You do not manage this agent.');
  requireLocalAgent({ scope });
  const agent = await work.db.agents.lock(id);
  if (!agent) throw agentNotFound();
  return agent;
}

/**
 * An agent of another system speaks for itself: here it has no tokens, no credentials, no webhooks and no settings.
 * @throws {DomainError} FORBIDDEN
 */
export function requireLocalAgent({ scope }: { scope: AgentScope }): void {
  if (scope !== 'remote') return;
  const message = 'This agent belongs to another system and speaks for itself. Manage it as a remote agent.';
  throw new DomainError('FORBIDDEN', message);
}

/**
 * Returns an attachment that the actor uploaded, or that was sent in one of its threads.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, also for an expired upload
 */
export async function requireAttachment(work: Work, id: string) {
  const found = isId('attachment', id)
    ? await work.db.attachments.findSeen(id, work.actor.agent_id)
    : undefined;
  if (!found || isExpired(found, work.now)) throw attachmentNotFound();
  return found;
}

/** Whether an upload was not sent in time. It counts as deleted even before maintenance removes it. */
export function isExpired({ expires_at }: { expires_at: number | null }, now: number): boolean {
  return expires_at !== null && expires_at <= now;
}

/** Returns the error for an attachment that is absent, expired or hidden. */
export function attachmentNotFound(): DomainError {
  return new DomainError('ATTACHMENT_NOT_FOUND', 'No such attachment, or it is hidden from you.');
}

/** Returns the error for an agent that is absent, retired or hidden: always the same text. */
export function agentNotFound(): DomainError {
  return new DomainError('AGENT_NOT_FOUND', 'No such agent, or it is hidden from you.');
}

/** Returns the error for an organization that is absent or that the caller does not belong to. */
export function organizationNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such organization, or you do not belong to it.');
}

/**
 * Returns the look-up key of a reference: the id, or the canonical form of the handle.
 * @throws {DomainError} INVALID_HANDLE if it is neither
 */
export function parseAgentKey(ref: string): string {
  return isId('agent', ref) ? ref : parseHandle(ref).canonical;
}

/** Returns the relationship of these agents to the actor, by agent id; retired agents are missing. */
export async function readRelationships(
  work: Work,
  ids: readonly string[],
): Promise<Map<string, Relationship>> {
  const seen = await work.db.agents.findSeen(work.actor.agent_id, [...new Set(ids)]);
  return new Map(seen.map((agent) => [agent.id, relationshipOf(agent)]));
}
