import type { Work } from '../../work/unit-of-work.ts';
import { retiredActor } from '../actor-checks.ts';
import { type RegisterAgent, registerAgentFor } from './registration.ts';

/**
 * Registers an agent beside the acting one: a personal agent of its person, or an agent of an organization that it belongs to
 * (contract, section 3). The handle is reserved for good.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND (organization), DUPLICATE_HANDLE, UNAUTHORIZED
 */
export async function registerAgent(work: Work, input: RegisterAgent) {
  const standing = await work.managedAgents.findPrincipal(work.actor.agent_id);
  if (!standing) throw retiredActor();
  return registerAgentFor(work, standing, input);
}
