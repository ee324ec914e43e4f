import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { presentA2aCard, type CardSettings } from '../../presenters/a2a/card.ts';
import type { A2aCard } from '../../presenters/a2a/card-schema.ts';
import { agentNotFound } from '../../services/access.ts';
import { findPublicAgent } from '../../services/agents/find-by-handle.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';

/**
 * Reads the A2A cards of public agents.
 * @throws {DomainError} AGENT_NOT_FOUND, also for a handle that no agent can have
 */
export function createReadA2aCard(unitOfWork: Pick<UnitOfWork, 'read'>, settings: CardSettings) {
  return function readA2aCard(handle: string): Promise<A2aCard> {
    return unitOfWork
      .read(system, async (work) => {
        const agent = await findPublicAgent(work, handle);
        const principal = agent && (await work.db.managedAgents.findPrincipal(agent.id));
        if (!principal) throw agentNotFound();
        return presentA2aCard({ ...agent, owner_name: principal.owner_name }, settings);
      })
      .catch(hideInvalidHandle);
  };
}

function hideInvalidHandle(error: unknown): never {
  throw error instanceof DomainError && error.code === 'INVALID_HANDLE' ? agentNotFound() : error;
}
