import { DomainError } from '../../../../core/src/domain/errors.ts';
import { type Call, storeFor } from './state.ts';

/** Pages that were not read yet, by cursor. */
const pagesOf = storeFor<{ binding: string; rows: readonly unknown[] }>();

export interface PageInput {
  limit: number;
  cursor?: string | undefined;
}

/**
 * Returns a page of a list. The cursor stands for the rows that were left at the first page, so changes neither shift nor repeat rows.
 * @param name the list with its filters; a cursor is valid only for these and for this agent.
 * @throws {DomainError} INVALID_CURSOR
 */
export function readPage<Row>(
  { state, me }: Call,
  { limit, cursor }: PageInput,
  name: readonly unknown[],
  list: () => readonly Row[],
): { rows: Row[]; next_cursor: string | undefined } {
  const pages = pagesOf(state);
  const binding = JSON.stringify([...name, me.id]);
  const rows = cursor === undefined ? list() : (findRows(pages.get(cursor), binding) as readonly Row[]);
  const rest = rows.slice(limit);
  if (rest.length === 0) return { rows: rows.slice(0, limit), next_cursor: undefined };
  const next_cursor = `page_${String(pages.size + 1).padStart(20, '0')}`;
  pages.set(next_cursor, { binding, rows: rest });
  return { rows: rows.slice(0, limit), next_cursor };
}

function findRows(
  page: { binding: string; rows: readonly unknown[] } | undefined,
  binding: string,
): readonly unknown[] {
  if (page?.binding === binding) return page.rows;
  throw new DomainError(
    'INVALID_CURSOR',
    'This cursor is invalid or belongs to another list; start without one.',
  );
}
