import { parseHandle } from '../../domain/agents/handles.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

/**
 * The agent of a handle if it shows its card to everybody, for callers that nobody knows. Agents that are private, retired or
 * absent are not found by the same look-up.
 * @throws {DomainError} INVALID_HANDLE
 */
export function findPublicAgent({ agents }: Pick<SystemWork, 'agents'>, handle: string) {
  return agents.findPublic(parseHandle(handle).canonical);
}
