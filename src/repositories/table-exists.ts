import { type Queryable, statement } from './queryable.ts';

const tableExists = statement('tables.is_there', 'select to_regclass($1) is not null as there');

/**
 * Tells whether a table is there: a process of this release may run before the migration that brings it. It asks until it is there, and
 * not again.
 */
export function createTableCheck(db: Queryable, table: string): () => Promise<boolean> {
  let there = false;
  return async () => {
    there ||= (await db.query<{ there: boolean }>(tableExists, [table]))[0]?.there === true;
    return there;
  };
}
