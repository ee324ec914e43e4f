import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { Budget } from '../../../../packages/core/src/domain/limits.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import { McpHttpError, rpcCodes } from './errors.ts';

/**
 * Counts what an agent opens or sends. Tools count by their operations.
 * @throws {McpHttpError} 429 with Retry-After
 */
export async function consumeBudget(
  limits: RateLimits,
  budget: Extract<Budget, 'mcp_initialize' | 'event_stream' | 'default'>,
  { agent_id }: Pick<Actor, 'agent_id'>,
  calls = 1,
): Promise<void> {
  const { refusal } = await limits.consumeCalls(budget, agent_id, calls);
  if (!refusal) return;
  const { code, message, retry_after } = refusal;
  throw new McpHttpError(429, rpcCodes.serverError, message, {
    data: { code, retry_after },
    headers: { 'Retry-After': String(retry_after) },
  });
}
