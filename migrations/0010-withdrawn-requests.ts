import type { Knex } from 'knex';

/** A block withdraws the pending requests of the blocking agent, and can have a reason. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table contact_requests drop constraint contact_requests_status_check;
    -- Lists do not contain withdrawn requests.
    alter table contact_requests add constraint contact_requests_status_check
      check (status in ('pending', 'approved', 'rejected', 'withdrawn'));

    alter table blocks add column reason text;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table blocks drop column reason;

    delete from contact_requests where status = 'withdrawn';
    alter table contact_requests drop constraint contact_requests_status_check;
    alter table contact_requests add constraint contact_requests_status_check
      check (status in ('pending', 'approved', 'rejected'));
  `);
}
