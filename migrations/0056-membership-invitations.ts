import type { Knex } from 'knex';

/**
 * Pending invitations to organizations; decided ones are in the audit log. Processes of the previous release do not read the table: they
 * add members directly until they are replaced.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table membership_invitations (
      organization_id text collate "C" not null references owners,
      account_id text collate "C" not null references accounts,
      role text not null check (role in ('admin', 'member')),
      -- Null: an operator.
      invited_by text collate "C" references accounts,
      created_at bigint not null,
      expires_at bigint not null,
      primary key (organization_id, account_id)
    );
    create index membership_invitations_account on membership_invitations (account_id);
    create index membership_invitations_inviter on membership_invitations (invited_by);
    create index membership_invitations_expiry on membership_invitations (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table membership_invitations');
}
