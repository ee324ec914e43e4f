import type { OutgoingPolicy, Outsider } from '../domain/agents/agents.ts';

/**
 * Returns the agents of other owners because of which a person must review a message, or another text that they would see, before it leaves.
 * None: it needs no review.
 */
export function listReviewed(
  policy: OutgoingPolicy,
  outsiders: readonly Outsider[],
  { has_files }: { has_files: boolean },
): Outsider[] {
  if (policy === 'free') return [];
  return outsiders.filter(
    ({ trusted, cleared }) => !trusted && (policy === 'review_all' || has_files || !cleared),
  );
}
