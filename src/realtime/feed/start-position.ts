import { toCurrentPosition } from '../../domain/feed/position-ranges.ts';
import type { Work } from '../../work/unit-of-work.ts';

export type FeedBounds = Awaited<ReturnType<Work['feed']['readBounds']>>[number];

export interface StartPosition {
  position: number;
  /** Whether it is the requested or acknowledged position, not the end of the feed. */
  resumed: boolean;
  /** Whether events after the requested position are lost to the reader. */
  gap: boolean;
}

/**
 * Where a reader starts: at the requested position, else the acknowledged one, else the end of the feed. A position before the
 * oldest entry moves there. A position from before a database restore moves to where the feed continued, or to the end of the
 * feed if it is beyond that. Each of these is a gap.
 */
export function startPosition(
  { last_number, first_number, acknowledged_number, ended_stretches }: FeedBounds,
  requested: number | undefined,
): StartPosition {
  const start = requested ?? acknowledged_number;
  if (start === null) return { position: last_number, resumed: false, gap: false };
  if (start > last_number) return { position: last_number, resumed: false, gap: true };
  const oldest = first_number === null ? last_number : first_number - 1;
  const { position, lost } = toCurrentPosition(start, ended_stretches ?? []);
  if (position < oldest) return { position: oldest, resumed: true, gap: true };
  return { position, resumed: true, gap: lost };
}
