import type { Relationship } from '../../../packages/core/src/domain/agents/agents.ts';
import { readRelationships } from '../../services/access.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** The relationship of each agent to the actor, by id. For transports that present messages without an operation. */
export function relationshipsOf(work: Work, ids: readonly string[]): Promise<Map<string, Relationship>> {
  return ids.length === 0 ? Promise.resolve(new Map()) : readRelationships(work, ids);
}
