import type { Knex } from 'knex';

/** An index of a long audit log takes its time: acts go on meanwhile. */
export const config = { transaction: false };

/** Whoever holds a transaction open is waited for, and nobody waits behind that. */
const patience = '2min';

/**
 * The index by which the audit log of an organization is found. It came with 0041 first, where every act waited until it was
 * built; a database that has it from there keeps it. Code of both releases finds its rows without it, more slowly. What a run
 * that was killed left half built is no use to anybody, and begins anew.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows }: { rows: { wait: string }[] } = await knex.raw(
    `select current_setting('lock_timeout') as wait`,
  );
  await knex.raw(`select set_config('lock_timeout', ?, false)`, [patience]);
  try {
    const half: { rows: object[] } = await knex.raw(
      `select from pg_index where indexrelid = to_regclass('audit_log_organization') and not indisvalid`,
    );
    if (half.rows.length > 0) await knex.raw('drop index concurrently audit_log_organization');
    await knex.raw(`create index concurrently if not exists audit_log_organization on audit_log (about, id)
      where act in ('member.changed', 'member.removed', 'organization.founded')`);
  } finally {
    await knex.raw(`select set_config('lock_timeout', ?, false)`, [rows[0]?.wait ?? '0']);
  }
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index audit_log_organization');
}
