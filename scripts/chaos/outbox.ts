import pg from 'pg';

/** How many jobs the service still owes. */
export async function owedJobs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ owed: number }>('select count(*)::int as owed from outbox');
    return rows[0]?.owed ?? 0;
  } finally {
    await client.end();
  }
}
