import type { FeedBounds } from '../../repositories/feed/feed.ts';
import { toCurrentPosition } from '../../../packages/core/src/domain/feed/position-ranges.ts';
import type { Cursors } from '../../work/cursors.ts';

export type { FeedBounds };

/** Words that every transport accepts in place of a cursor: the oldest event that is kept, and the end of the feed. */
const feedEnds = ['earliest', 'latest'] as const;

type FeedEnd = (typeof feedEnds)[number];

/**
 * Decodes the requested start of a reader: a position, an end of the feed, or nothing.
 * @throws {DomainError} INVALID_CURSOR
 */
export function decodeStart(
  cursors: Pick<Cursors, 'decodeFeed'>,
  agentId: string,
  cursor: string | undefined,
): number | FeedEnd | undefined {
  if (cursor === undefined) return undefined;
  return feedEnds.find((end) => end === cursor) ?? cursors.decodeFeed(agentId, cursor);
}

export interface StartPosition {
  position: number;
  /** Whether it is the requested or acknowledged position, not the end of the feed. */
  resumed: boolean;
  /** Whether events after the requested position are lost to the reader. */
  gap: boolean;
}

/**
 * Where a reader starts: at the requested position, else the acknowledged one, else at the given end of the feed. A position before the
 * oldest entry moves there. A position from before a database restore moves to where the feed continued, or to the end of the
 * feed if it is beyond that. Each of these is a gap.
 */
export function startPosition(
  { last_number, first_number, acknowledged_number, ended_stretches }: FeedBounds,
  requested: number | FeedEnd | undefined,
  otherwise: FeedEnd = 'latest',
): StartPosition {
  const oldest = first_number === null ? last_number : first_number - 1;
  const start = requested ?? acknowledged_number ?? otherwise;
  if (start === 'latest') return { position: last_number, resumed: false, gap: false };
  if (start === 'earliest') return { position: oldest, resumed: true, gap: false };
  if (start > last_number) return { position: last_number, resumed: false, gap: true };
  const { position, lost } = toCurrentPosition(start, ended_stretches ?? []);
  if (position < oldest) return { position: oldest, resumed: true, gap: true };
  return { position, resumed: true, gap: lost };
}
