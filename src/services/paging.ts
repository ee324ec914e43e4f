import type { Work } from '../work/unit-of-work.ts';

export interface PageRequest {
  limit: number;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
}

export interface KeysetList<Row, Position> {
  /** The name of the list and the filters it is seen through. A cursor is good for these, and for this agent, only. */
  binding: readonly (string | number | null)[];
  /** The rows behind a position, in the order of the list. */
  rows(after: Position | null, limit: number): Promise<Row[]>;
  /** Where a row stands: unique, and never moving. */
  position(row: Row): Position;
}

/**
 * A page of a list, and the cursor of the next one when there is more (contract, section 3, Lists). Rows that come or go while
 * somebody reads neither hide nor repeat another row.
 * @throws {DomainError} INVALID_CURSOR
 */
export async function readPage<Row, Position extends readonly [string | number, ...(string | number)[]]>(
  { actor, cursors }: Pick<Work, 'actor' | 'cursors'>,
  { limit, cursor }: PageRequest,
  list: KeysetList<Row, Position>,
): Promise<{ rows: Row[]; next_cursor: string | undefined }> {
  const binding = JSON.stringify([...list.binding, actor.agent_id]);
  // What the signature holds was written below, from a position of this very list.
  const after = cursor === undefined ? null : (cursors.decode(binding, cursor) as unknown as Position);
  const found = await list.rows(after, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return { rows, next_cursor: more ? cursors.encode(binding, list.position(last)) : undefined };
}
