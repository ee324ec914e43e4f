import pg from 'pg';

const segments = 64;

/** Settings of a measured PostgreSQL: it keeps the files of `recycleWal`. */
export const recycledWalSettings = { min_wal_size: '1GB' };

/**
 * Gives a new PostgreSQL 1 GB of write-ahead log to reuse, as one has that has run for some hours. A new one creates a file of 16 MB
 * whenever it has none, and stores nothing in the meantime: 20 to 60 ms.
 */
export async function recycleWal(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let segment = 0; segment < segments; segment += 1) {
      await client.query(
        "select pg_logical_emit_message(false, 'bench', 'a segment is not switched while it is empty')",
      );
      await client.query('select pg_switch_wal()');
    }
    // The first checkpoint only ends after the last switch; the next one reuses the files before it.
    for (const text of ['checkpoint', "select pg_logical_emit_message(false, 'bench', '')", 'checkpoint']) {
      await client.query(text);
    }
  } finally {
    await client.end();
  }
}
