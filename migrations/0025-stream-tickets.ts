import type { Knex } from 'knex';

/**
 * One-time tickets for streams, as hashes. A ticket is valid only while the access token for which it was issued is, so it needs no foreign
 * key, and the removal of tokens need not remove tickets.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table stream_tickets (
      ticket_hash bytea primary key,
      token_hash bytea not null,
      expires_at bigint not null
    );
    create index stream_tickets_expiry on stream_tickets (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table stream_tickets');
}
