import type { Knex } from 'knex';

/** Not in a transaction: an index of a long audit log takes long to build, and entries are written meanwhile. */
export const config = { transaction: false };

/**
 * The index of everything about an organization and its members, now with invitations. The previous release reads
 * audit_log_organization, which stays for it. An incomplete index of a killed run is dropped and built again.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows }: { rows: { wait: string }[] } = await knex.raw(
    `select current_setting('lock_timeout') as wait`,
  );
  // The build waits for open transactions, and nothing waits for the build.
  await knex.raw(`select set_config('lock_timeout', '2min', false)`);
  try {
    const incomplete: { rows: object[] } = await knex.raw(
      `select from pg_index where indexrelid = to_regclass('audit_log_membership') and not indisvalid`,
    );
    if (incomplete.rows.length > 0) await knex.raw('drop index concurrently audit_log_membership');
    await knex.raw(`create index concurrently if not exists audit_log_membership on audit_log (about, id)
      where act in ('member.changed', 'member.invitation_declined', 'member.invitation_revoked', 'member.invited',
        'member.removed', 'organization.founded')`);
  } finally {
    await knex.raw(`select set_config('lock_timeout', ?, false)`, [rows[0]?.wait ?? '0']);
  }
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index audit_log_membership');
}
