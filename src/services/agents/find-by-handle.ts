import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import { requireLocalAgent } from '../access.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/**
 * Returns the agent of this service with this handle, without a visibility check: for operators only.
 * @throws {DomainError} AGENT_NOT_FOUND (also when it is retired), INVALID_HANDLE, FORBIDDEN (an agent of another system)
 */
export async function findAgentByHandle({ db: { agents } }: ReadWork, handle: string) {
  const { canonical } = parseHandle(handle);
  const agent = await agents.findByHandle(canonical);
  if (!agent) throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${canonical}`);
  requireLocalAgent(agent);
  return agent;
}

/**
 * Returns an agent by its handle, including retired agents.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function findAnyAgentByHandle({ db: { agentExport } }: ReadWork, handle: string) {
  const { canonical } = parseHandle(handle);
  const agent = await agentExport.find(canonical);
  if (!agent) throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${canonical}`);
  return { ...agent, canonical_handle: canonical };
}

/**
 * Returns the agent with this handle if it is public, for unauthenticated callers; undefined if it is private, retired or absent.
 * One query decides all of these, so that the response time reveals nothing.
 * @throws {DomainError} INVALID_HANDLE
 */
export function findPublicAgent({ db: { agents } }: ReadWork, handle: string) {
  return agents.findPublic(parseHandle(handle).canonical);
}
