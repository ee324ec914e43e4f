import type { Core } from '../../compose.ts';

const limitLabels = { statement_timeout: 'a statement', lock_timeout: 'a lock' } as const;

/**
 * How long the server lets a statement take that stands alone. Behind a pooler the service cannot set that: only transactions bring
 * their limits along.
 * @throws when it has no limit.
 */
export async function checkDatabaseLimits({ database }: Pick<Core, 'database'>): Promise<string> {
  type Limit = { name: keyof typeof limitLabels; milliseconds: number };
  const text = `select name, setting::int as milliseconds from pg_settings where name in ('statement_timeout', 'lock_timeout') order by name desc`;
  const limits = await database.query<Limit>({ text }, []);
  const absent = limits.filter(({ milliseconds }) => milliseconds === 0).map(({ name }) => name);
  if (absent.length > 0) throw new Error(`the server sets no ${absent.join(' and no ')}`);
  return limits
    .map(({ name, milliseconds }) => `${milliseconds / 1_000} s for ${limitLabels[name]}`)
    .join(', ');
}
