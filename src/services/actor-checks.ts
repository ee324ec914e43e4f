import type { WriterAudience } from '../repositories/messages/batches.ts';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { ThreadStatus } from '../../packages/core/src/domain/threads.ts';
import { checkMessagePolicy, pausedActor } from '../../packages/core/src/policies/inbound.ts';
import type { Work } from '../work/unit-of-work.ts';
import { requireReviewed } from './approvals/outgoing.ts';

type MemberToCheck = WriterAudience['listeners'][number];

/**
 * Returns the acting agent, for actions that affect other agents.
 * @throws {DomainError} AGENT_PAUSED; UNAUTHORIZED if it was retired after its token was checked
 */
export async function requireActingAgent(work: Work) {
  const agent = await work.db.agents.find(work.actor.agent_id);
  if (!agent) throw retiredActor();
  if (agent.paused) throw pausedActor();
  return agent;
}

/** Checks the same as requireActingAgent, without loading the agent. */
export async function requireActiveActor(work: Work): Promise<void> {
  const paused = await work.db.agents.isPaused(work.actor.agent_id);
  requireActorState({ retired: paused === undefined, paused: paused ?? false });
}

/** @throws {DomainError} as requireActingAgent */
export function requireActorState({ retired, paused }: { retired: boolean; paused: boolean }): void {
  if (retired) throw retiredActor();
  if (paused) throw pausedActor();
}

/** @throws {DomainError} THREAD_CLOSED unless the thread is active */
export function requireActiveThread({ status }: { status: ThreadStatus }): void {
  if (status === 'active') return;
  throw new DomainError(
    'THREAD_CLOSED',
    `This thread is ${status}; set its status to active first, or open another thread.`,
  );
}

/**
 * Checks a message of the actor against the inbound policy, pause and blocks of each recipient.
 * @throws {DomainError} AGENT_PAUSED, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED, BLOCKED; AGENT_NOT_FOUND if the only recipient is retired
 */
export function requirePoliciesAllow(
  thread: { created_by: string },
  members: readonly MemberToCheck[],
): void {
  for (const member of members) {
    const error = checkMessagePolicy(member, thread.created_by === member.id);
    if (error) throw error;
  }
}

/**
 * Applies requirePoliciesAllow and the actor's outgoing policy to changes of the thread that all members see, such as a new member or subject. Otherwise these
 * changes could carry a message that the policies refuse. The caller locks the thread. Retired members are ignored.
 * @param added the id of an agent that becomes a member, and sees the history
 * @throws {DomainError} AGENT_PAUSED, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED, BLOCKED, ReviewRequired
 */
export async function requirePoliciesAllowChange(
  work: Work,
  thread: { id: string; created_by: string },
  added: readonly string[] = [],
): Promise<void> {
  const writer = { thread_id: thread.id, agent_id: work.actor.agent_id };
  const [audience] = await work.db.messageBatches.listAudiences([writer]);
  if (!audience) throw retiredActor();
  requirePoliciesAllow(
    thread,
    audience.listeners.filter((member) => !member.retired),
  );
  const agents = [...audience.member_ids, ...added];
  await requireReviewed(work, audience.outgoing_policy, { agents, thread_id: thread.id });
}

/** Returns the error for an agent that was retired after its token was checked. */
export function retiredActor(): DomainError {
  return new DomainError('UNAUTHORIZED', 'The agent of this token is retired.');
}
