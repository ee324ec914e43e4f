import { DomainError } from '../domain/errors.ts';
import { pausedActor } from '../policies/inbound.ts';
import type { Work } from '../unit-of-work.ts';

/**
 * The agent that acts, for what it does towards others.
 * @throws {DomainError} AGENT_PAUSED when its owner paused it; UNAUTHORIZED when it was retired meanwhile.
 */
export async function actingAgent(work: Work) {
  const agent = await work.agents.find(work.actor.agent_id);
  if (!agent) throw retiredActor();
  if (agent.paused) throw pausedActor();
  return agent;
}

/** As actingAgent, where nothing of the agent itself is needed. */
export async function requireActing(work: Work): Promise<void> {
  const paused = await work.agents.isPaused(work.actor.agent_id);
  if (paused === undefined) throw retiredActor();
  if (paused) throw pausedActor();
}

function retiredActor(): DomainError {
  return new DomainError('UNAUTHORIZED', 'The agent of this token is retired.');
}
