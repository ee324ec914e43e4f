import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { agentSchema } from '../../../packages/core/src/records/agent.ts';
import { presentA2aCard } from '../../presenters/a2a/card.ts';
import type { A2aCard } from '../../presenters/a2a/card-schema.ts';
import { agentNotFound } from '../../services/access.ts';
import { findPublicAgent } from '../../services/agents/find-by-handle.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import { getAgentOperation } from '../agents/get-agent.ts';
import type { Execute } from '../execute/execute.ts';
import { toCardSettings } from './card-settings.ts';

/** @param actor null for a caller without a token. */
export type ReadA2aCard = (actor: Actor | null, handle: string) => Promise<A2aCard>;

/**
 * Reads A2A cards, unsigned. Every caller can read those of agents that are not private. Private agents are read by the operation, which checks
 * whether the actor can see them. It consumes no rate limit.
 * @throws {DomainError} AGENT_NOT_FOUND, also for a handle that no agent can have; INSUFFICIENT_SCOPE
 */
export function createReadA2aCard(
  { read, settings }: Pick<UnitOfWork, 'read' | 'settings'>,
  execute: Execute,
): ReadA2aCard {
  async function findAgent(actor: Actor | null, handle: string) {
    const agent = await read(system, (work) => findPublicAgent(work, handle));
    if (agent) return agent;
    if (!actor) throw agentNotFound();
    const input = { agent_ref: handle };
    const call = { operation: getAgentOperation, actor, input, already_consumed: true };
    return agentSchema.parse((await execute(call)).output);
  }

  return async function readA2aCard(actor, handle) {
    const agent = await findAgent(actor, handle).catch(hideInvalidHandle);
    const principal = await read(system, ({ db }) => db.managedAgents.findPrincipal(agent.id));
    if (!principal) throw agentNotFound();
    return presentA2aCard({ ...agent, owner_name: principal.owner_name }, toCardSettings(settings));
  };
}

function hideInvalidHandle(error: unknown): never {
  throw error instanceof DomainError && error.code === 'INVALID_HANDLE' ? agentNotFound() : error;
}
