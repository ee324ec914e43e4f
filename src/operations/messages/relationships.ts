import type { Relationship } from '../../domain/agents/agents.ts';
import { readRelationships } from '../../services/access.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** How these agents, named by id, belong to the actor; for faces that show messages which no operation has read. */
export function relationshipsOf(work: Work, ids: readonly string[]): Promise<Map<string, Relationship>> {
  return ids.length === 0 ? Promise.resolve(new Map()) : readRelationships(work, ids);
}
