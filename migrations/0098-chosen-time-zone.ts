import type { Knex } from 'knex';

/** UTC can be chosen like every other zone: a person who chose none has none. Stored UTC was the default. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table notification_settings alter column time_zone drop not null, alter column time_zone drop default',
  );
  await knex.raw("update notification_settings set time_zone = null where time_zone = 'UTC'");
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("update notification_settings set time_zone = 'UTC' where time_zone is null");
  await knex.raw(
    "alter table notification_settings alter column time_zone set default 'UTC', alter column time_zone set not null",
  );
}
