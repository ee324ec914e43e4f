import type { Actor } from '../../domain/auth/actor.ts';
import type { OnBudget } from '../../domain/limits.ts';
import { type AgentCard, agentCardSchema, presentAgentCard } from '../../presenters/agent-card.ts';
import { agentNotFound } from '../../services/access.ts';
import { findPublicAgent } from '../../services/agents/find-by-handle.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Execute } from '../execute/execute.ts';
import { getAgentCardOperation } from './get-agent-card.ts';

export interface ReadCardCall {
  /** Null for a caller without a token. */
  actor: Actor | null;
  handle: string;
  onRateLimit: OnBudget;
}

export interface ShownCard {
  card: AgentCard;
  /** Whether everybody may read it. */
  public: boolean;
}

/**
 * Reads cards for callers with and without a token (contract, section 3): a public agent's for everybody, another one's by the
 * operation, for those who see the agent.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, INSUFFICIENT_SCOPE
 */
export function createReadCard(unitOfWork: Pick<UnitOfWork, 'readAsSystem'>, execute: Execute) {
  return async function readCard({ actor, handle, onRateLimit }: ReadCardCall): Promise<ShownCard> {
    const shown = await unitOfWork.readAsSystem((repositories) => findPublicAgent(repositories, handle));
    if (shown) return { card: presentAgentCard(shown), public: true };
    if (!actor) throw agentNotFound();
    const { output } = await execute({
      operation: getAgentCardOperation,
      actor,
      input: { handle },
      onRateLimit,
    });
    return { card: agentCardSchema.parse(output), public: false };
  };
}
