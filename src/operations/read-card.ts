import type { Actor } from '../domain/actor.ts';
import type { TellBudget } from '../domain/limits.ts';
import { type AgentCard, agentCardSchema, presentAgentCard } from '../presenters/agent-card.ts';
import { noSuchAgent } from '../services/access.ts';
import { publicAgent } from '../services/agent-card.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Execute } from './execute.ts';
import { getAgentCardOperation } from './get-agent-card.ts';

export interface ReadCard {
  /** Null for a caller without a token. */
  actor: Actor | null;
  handle: string;
  tell: TellBudget;
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
export function createReadCard(unitOfWork: Pick<UnitOfWork, 'consult'>, execute: Execute) {
  return async function readCard({ actor, handle, tell }: ReadCard): Promise<ShownCard> {
    const shown = await unitOfWork.consult((repositories) => publicAgent(repositories, handle));
    if (shown) return { card: presentAgentCard(shown), public: true };
    if (!actor) throw noSuchAgent();
    const { output } = await execute({ operation: getAgentCardOperation, actor, input: { handle }, tell });
    return { card: agentCardSchema.parse(output), public: false };
  };
}
