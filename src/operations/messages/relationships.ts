import type { Relationship } from '../../domain/agents/agents.ts';
import { readRelationships } from '../../services/access.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** The relationship of each of these agents to the actor, by id; for transports that show messages of the feed. */
export function relationshipsOf(work: Work, ids: readonly string[]): Promise<Map<string, Relationship>> {
  return ids.length === 0 ? Promise.resolve(new Map()) : readRelationships(work, ids);
}
