import type { Work } from '../work/unit-of-work.ts';

export interface PageRequest {
  limit: number;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

export interface KeysetList<Row, Position> {
  /** The name of the list and its filters. A cursor is valid only for these and for this agent. */
  binding: readonly (string | number | null)[];
  /** Returns the rows after a position, in the order of the list. */
  rows(after: Position | null, limit: number): Promise<Row[]>;
  /** Returns the position of a row: unique and stable. */
  position(row: Row): Position;
}

/**
 * Returns a page of a list, and the cursor of the next page if there is one. Rows that are added or removed between two pages cause
 * neither gaps nor duplicates of other rows.
 * @throws {DomainError} INVALID_CURSOR
 */
export async function readPage<Row, Position extends readonly [string | number, ...(string | number)[]]>(
  { settings: { cursors }, actor }: Pick<Work, 'actor' | 'settings'>,
  { limit, cursor }: PageRequest,
  list: KeysetList<Row, Position>,
): Promise<{ rows: Row[]; next_cursor: string | undefined }> {
  const binding = JSON.stringify([...list.binding, actor.agent_id]);
  // The signature guarantees that the cursor was encoded below, from a position of this list.
  const after = cursor === undefined ? null : (cursors.decode(binding, cursor) as unknown as Position);
  const found = await list.rows(after, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return { rows, next_cursor: more ? cursors.encode(binding, list.position(last)) : undefined };
}
