import type { Knex } from 'knex';

/**
 * Lets the planner know some 3,000 words by how frequent they are, not 1,000: a rare word that it takes for a frequent one is looked
 * for in the reader's threads first, of which there may be hundreds of thousands of messages.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table message_search alter column document set statistics 300;
    analyze message_search;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table message_search alter column document set statistics -1');
}
