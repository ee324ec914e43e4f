import type { CursorStore } from './types.ts';

/** Keeps the position while the program runs. */
export function memoryCursor(start?: string): CursorStore {
  let position = start;
  return {
    load: async () => position,
    async save(cursor) {
      position = cursor;
    },
  };
}

/** Runs one statement of SQL and returns its rows. */
export type RunSql = (text: string, values: readonly string[]) => Promise<readonly object[]>;

export interface SqlCursorOptions {
  /** The table, with the columns `name` (its primary key) and `position`, both text. Default: agent_cursors. */
  table?: string;
  /** The reader: several programs can share a table. Default: default. */
  name?: string;
  /** How the database writes parameters: `$1`, or `?`. Default: $1. */
  parameters?: '$1' | '?';
}

export interface SqlCursor extends CursorStore {
  /** Creates the table if it does not exist. */
  createTable(): Promise<void>;
  /** Saves a position in a transaction of the caller: with the work of the loop, or not at all. */
  saveIn(transaction: RunSql, cursor: string): Promise<void>;
}

/** Keeps the position in a table of the caller (PostgreSQL, SQLite or another database with `on conflict`). */
export function sqlCursor(run: RunSql, options: SqlCursorOptions = {}): SqlCursor {
  const { table = 'agent_cursors', name = 'default', parameters = '$1' } = options;
  if (!/^\w+(?:\.\w+)?$/.test(table)) throw new TypeError(`${table} is no name of a table`);
  const [first, second] = parameters === '?' ? ['?', '?'] : ['$1', '$2'];
  const upsert =
    `insert into ${table} (name, position) values (${first}, ${second}) ` +
    'on conflict (name) do update set position = excluded.position';
  let saved: string | undefined;

  async function saveIn(transaction: RunSql, cursor: string): Promise<void> {
    await transaction(upsert, [name, cursor]);
    saved = cursor;
  }

  return {
    saveIn,
    async createTable() {
      await run(`create table if not exists ${table} (name text primary key, position text not null)`, []);
    },
    async load() {
      const [row] = await run(`select position from ${table} where name = ${first}`, [name]);
      return row ? String(Reflect.get(row, 'position')) : undefined;
    },
    // The loop saves each position again after its body.
    save: async (cursor) => {
      if (cursor !== saved) await saveIn(run, cursor);
    },
  };
}
