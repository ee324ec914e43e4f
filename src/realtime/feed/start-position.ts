import { toCurrentPosition } from '../../domain/feed/position-ranges.ts';
import type { Work } from '../../work/unit-of-work.ts';

export type FeedBounds = Awaited<ReturnType<Work['feed']['readBounds']>>[number];

export interface StartPosition {
  position: number;
  /** Whether it is a position from before, not "now". */
  resumed: boolean;
  /** Whether events behind the wished position are lost to the reader. */
  gap: boolean;
}

/**
 * Where a reader starts: at the position it names, else at the acknowledged one, else now. A position older than what is kept
 * moves up to the oldest entry. A restored database has positions that it never gave out: they move up to where it went on, or to
 * now when they are beyond its end. All of these are gaps.
 */
export function startPosition(
  { last_number, first_number, acknowledged_number, ended_stretches }: FeedBounds,
  given: number | undefined,
): StartPosition {
  const wished = given ?? acknowledged_number;
  if (wished === null) return { position: last_number, resumed: false, gap: false };
  if (wished > last_number) return { position: last_number, resumed: false, gap: true };
  const oldest = first_number === null ? last_number : first_number - 1;
  const { position, lost } = toCurrentPosition(wished, ended_stretches ?? []);
  if (position < oldest) return { position: oldest, resumed: true, gap: true };
  return { position, resumed: true, gap: lost };
}
