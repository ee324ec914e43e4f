import type { Knex } from 'knex';

/** Not in a transaction: an index of a long audit log takes long to build, and entries are written meanwhile. */
export const config = { transaction: false };

/** The build waits for open transactions, and nothing waits for the build. */
const patience = '2min';

/**
 * The index of the audit log of an organization. It was first a part of 0041, which blocked writes while it was built; a database that
 * has it from there keeps it. Code of both releases works without it, more slowly. An incomplete index of a killed run is dropped and built
 * again.
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
