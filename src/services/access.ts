import { DomainError, wrongField } from '../domain/errors.ts';
import { parseHandle } from '../domain/agents/handles.ts';
import { isId } from '../domain/ids.ts';
import { type Relationship, relationshipOf } from '../domain/agents/relations.ts';
import type { Work } from '../work/unit-of-work.ts';

type Thread = NonNullable<Awaited<ReturnType<Work['threads']['findForMember']>>>;
type Agent = NonNullable<Awaited<ReturnType<Work['agents']['find']>>>;
type AgentView = NonNullable<Awaited<ReturnType<Work['managedAgents']['findSeen']>>>;
type SeenAgent = Awaited<ReturnType<Work['agents']['findSeen']>>[number];

/**
 * The thread, if the actor is a member; "absent" and "not yours" look alike.
 * @param lock hold the thread until the unit of work ends, so that nothing in it changes meanwhile.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function requireThread(work: Work, id: string, { lock = false } = {}): Promise<Thread> {
  const find = lock ? work.threads.lockForMember : work.threads.findForMember;
  const thread = isId('thread', id) ? await find(id, work.actor.agent_id) : undefined;
  if (!thread) throw threadNotFound();
  return thread;
}

/** The refusal for a thread that does not exist or that the actor is not a member of. */
export function threadNotFound(): DomainError {
  return new DomainError('THREAD_NOT_FOUND', 'No such thread, or you are not a member of it.');
}

/**
 * The agents behind handles or ids, in the order asked for, each with what relates it to the actor.
 * @throws {DomainError} AGENT_NOT_FOUND when one does not exist or is hidden from the actor; INVALID_HANDLE.
 */
export async function requireAgents(work: Work, refs: readonly string[]): Promise<SeenAgent[]> {
  const keys = refs.map(parseAgentKey);
  const seen = await work.agents.findSeen(work.actor.agent_id, keys);
  return keys.map((key, index) => {
    const agent = seen.find(({ id, canonical_handle }) => id === key || canonical_handle === key);
    if (!agent?.visible)
      throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${refs[index]?.slice(0, 80)}`);
    return agent;
  });
}

/**
 * One agent by id or handle that is not the actor itself, with what relates it to the actor.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (oneself)
 */
export async function requireOtherAgent(work: Work, ref: string): Promise<SeenAgent> {
  const [agent] = await requireAgents(work, [ref]);
  if (agent && !agent.self) return agent;
  throw wrongField('handle', 'names yourself; name another agent');
}

/**
 * One agent by id or handle, for those who may look at it: it is visible to the actor, or the actor manages it. What is hidden,
 * retired or was never there is refused in the same words.
 * @throws {DomainError} AGENT_NOT_FOUND; INVALID_HANDLE, which depends on the text alone.
 */
export async function requireAgent(work: Work, ref: string): Promise<AgentView> {
  // What is meant as an id but is none finds nothing, as any other id of nobody.
  const key = /^agt_[^.]*$/.test(ref) ? ref : parseAgentKey(ref);
  const agent = await work.managedAgents.findSeen(work.actor.agent_id, key);
  if (!agent || !(agent.visible || agent.managed)) throw agentNotFound();
  return agent;
}

/**
 * One agent that the actor manages, held until the unit of work ends.
 * @throws {DomainError} AGENT_NOT_FOUND when the actor may not even look at it, FORBIDDEN when it may; INVALID_HANDLE.
 */
export async function requireManagedAgent(work: Work, ref: string): Promise<Agent> {
  const { id, managed } = await requireAgent(work, ref);
  if (!managed) throw new DomainError('FORBIDDEN', 'Only who manages this agent may do that.');
  const agent = await work.agents.lock(id);
  if (!agent) throw agentNotFound();
  return agent;
}

/**
 * An attachment that the actor has uploaded, or that was sent in a thread of its own.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, also for an upload whose time to be sent is over.
 */
export async function requireAttachment(work: Work, id: string) {
  const found = isId('attachment', id) ? await work.attachments.findSeen(id, work.actor.agent_id) : undefined;
  if (!found || isExpired(found, work.now)) throw attachmentNotFound();
  return found;
}

/** Whether an upload was not sent in time: it is gone, even where nobody has swept it yet. */
export function isExpired({ expires_at }: { expires_at: number | null }, now: number): boolean {
  return expires_at !== null && expires_at <= now;
}

/** The refusal for an attachment that is absent, over, or hidden. */
export function attachmentNotFound(): DomainError {
  return new DomainError('ATTACHMENT_NOT_FOUND', 'No such attachment, or it is hidden from you.');
}

/** The refusal for an agent that is absent, retired or hidden: always the same words. */
export function agentNotFound(): DomainError {
  return new DomainError('AGENT_NOT_FOUND', 'No such agent, or it is hidden from you.');
}

/** The refusal for an organization that is absent, and for one that the caller does not belong to. */
export function organizationNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such organization, or you do not belong to it.');
}

/**
 * What an agent is looked up by: the id that a reference is, else the canonical form of the handle that it is.
 * @throws {DomainError} INVALID_HANDLE when it is neither.
 */
export function parseAgentKey(ref: string): string {
  return isId('agent', ref) ? ref : parseHandle(ref).canonical;
}

/** How these agents belong to the actor, by id; of retired ones it says nothing. */
export async function readRelationships(
  work: Work,
  ids: readonly string[],
): Promise<Map<string, Relationship>> {
  const seen = await work.agents.findSeen(work.actor.agent_id, [...new Set(ids)]);
  return new Map(seen.map((agent) => [agent.id, relationshipOf(agent)]));
}
