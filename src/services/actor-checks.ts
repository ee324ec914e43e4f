import { DomainError } from '../domain/errors.ts';
import type { ThreadStatus } from '../domain/threads.ts';
import { checkMessagePolicy, pausedActor } from '../policies/inbound.ts';
import type { Work } from '../work/unit-of-work.ts';

type Audience = Awaited<ReturnType<Work['messageBatches']['listAudiences']>>[number];
type MemberToCheck = Audience['listeners'][number];

/**
 * The agent that acts, for what it does towards others.
 * @throws {DomainError} AGENT_PAUSED when its owner paused it; UNAUTHORIZED when it was retired meanwhile.
 */
export async function requireActingAgent(work: Work) {
  const agent = await work.agents.find(work.actor.agent_id);
  if (!agent) throw retiredActor();
  if (agent.paused) throw pausedActor();
  return agent;
}

/** As actingAgent, where nothing of the agent itself is needed. */
export async function requireActiveActor(work: Work): Promise<void> {
  const paused = await work.agents.isPaused(work.actor.agent_id);
  requireActorState({ retired: paused === undefined, paused: paused ?? false });
}

/** @throws {DomainError} as actingAgent */
export function requireActorState({ retired, paused }: { retired: boolean; paused: boolean }): void {
  if (retired) throw retiredActor();
  if (paused) throw pausedActor();
}

/** @throws {DomainError} THREAD_CLOSED unless the thread takes messages */
export function requireActiveThread({ status }: { status: ThreadStatus }): void {
  if (status === 'active') return;
  throw new DomainError(
    'THREAD_CLOSED',
    `This thread is ${status}; set it to active first, or open another one.`,
  );
}

/**
 * Holds what the actor says in a thread to the policies, pauses and blocks of those who would hear it.
 * @throws {DomainError} AGENT_PAUSED, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED, BLOCKED; AGENT_NOT_FOUND when nobody is left
 */
export function requirePoliciesAllow(
  thread: { created_by: string },
  listeners: readonly MemberToCheck[],
): void {
  for (const other of listeners) {
    const refusal = checkMessagePolicy(other, thread.created_by === other.id);
    if (refusal) throw refusal;
  }
}

/**
 * As requireHeard, for what changes the thread itself: to bring others in, or to change the subject, which everybody is shown.
 * Without it a message that is refused could take that way. The thread must be held; who is retired stands against nothing.
 * @throws {DomainError} AGENT_PAUSED, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED, BLOCKED
 */
export async function requirePoliciesAllowChange(
  work: Work,
  thread: { id: string; created_by: string },
): Promise<void> {
  const writer = { thread_id: thread.id, agent_id: work.actor.agent_id };
  const [audience] = await work.messageBatches.listAudiences([writer]);
  if (!audience) throw retiredActor();
  requirePoliciesAllow(
    thread,
    audience.listeners.filter((other) => !other.retired),
  );
}

/** The refusal for an agent that was retired after its token was checked. */
export function retiredActor(): DomainError {
  return new DomainError('UNAUTHORIZED', 'The agent of this token is retired.');
}
