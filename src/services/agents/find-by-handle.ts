import { DomainError } from '../../domain/errors.ts';
import { parseHandle } from '../../domain/agents/handles.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

/**
 * The agent of this handle, for those who may see every agent: operators.
 * @throws {DomainError} AGENT_NOT_FOUND when there is none or it is retired; INVALID_HANDLE.
 */
export async function findAgentByHandle({ agents }: Pick<SystemWork, 'agents'>, handle: string) {
  const { canonical } = parseHandle(handle);
  const agent = await agents.findByHandle(canonical);
  if (!agent) throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${canonical}`);
  return agent;
}

/**
 * An agent by its handle, a retired one too.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function findAnyAgentByHandle({ agentExport }: Pick<SystemWork, 'agentExport'>, handle: string) {
  const { canonical } = parseHandle(handle);
  const agent = await agentExport.find(canonical);
  if (!agent) throw new DomainError('AGENT_NOT_FOUND', `No such agent: ${canonical}`);
  return { ...agent, canonical_handle: canonical };
}
