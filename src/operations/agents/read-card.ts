import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { OnBudget } from '../../../packages/core/src/domain/limits.ts';
import {
  type AgentCard,
  agentCardSchema,
  presentAgentCard,
} from '../../../packages/core/src/records/agent-card.ts';
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
  /** Whether it can be read without a token. */
  public: boolean;
}

/**
 * Reads cards for callers with and without a token. The card of a public agent is for everybody; other cards are read through the
 * operation, which checks whether the actor may see the agent.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, INSUFFICIENT_SCOPE
 */
export function createReadCard(unitOfWork: Pick<UnitOfWork, 'read'>, execute: Execute) {
  return async function readCard({ actor, handle, onRateLimit }: ReadCardCall): Promise<ShownCard> {
    const agent = await unitOfWork.read(system, (work) => findPublicAgent(work, handle));
    if (agent) return { card: presentAgentCard(agent), public: true };
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
