import type { Knex } from 'knex';

/** Not in a transaction: writes to the tables continue while the indexes are built. */
export const config = { transaction: false };

const indexes = {
  approvals_pending_actions: `unique index concurrently approvals_pending_actions on approvals (agent_id, action, target, message)
    where state = 'pending' and held is null`,
  approvals_pending_keys: `unique index concurrently approvals_pending_keys on approvals (key_hash) where state = 'pending' and held is not null`,
  approvals_keys: 'index concurrently approvals_keys on approvals (key_hash) where key_hash is not null',
};

/**
 * The policy of an agent for what leaves its owner. A call that waits for a review is an approval with the whole call; two such calls
 * can be equal. A clearance says that an agent needs no review for another agent: in one thread, or in all (an empty thread).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table agents add column if not exists outgoing_policy text not null default 'free'
    check (outgoing_policy in ('free', 'review_strangers', 'review_all'))`);
  await knex.raw('alter table approvals drop constraint if exists approvals_action_check');
  await knex.raw(`alter table approvals add column if not exists held jsonb, add column if not exists reason text,
    add column if not exists is_review boolean not null default false, add column if not exists recipients text[] not null default '{}'`);
  await knex.raw('alter table inbox_items add column if not exists review_id text collate "C"');
  await knex.raw(`create table if not exists outgoing_clearances (
    agent_id text collate "C" not null references agents,
    counterpart_id text collate "C" not null references agents,
    -- Empty: in all threads.
    thread_id text collate "C" not null,
    created_at bigint not null,
    primary key (agent_id, counterpart_id, thread_id)
  )`);
  await knex.raw(
    'create index if not exists outgoing_clearances_counterpart on outgoing_clearances (counterpart_id)',
  );
  for (const [name, index] of Object.entries(indexes)) {
    // That of a killed run is incomplete.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create ${index}`);
  }
  await knex.raw('drop index concurrently if exists approvals_pending');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('delete from approvals where is_review');
  await knex.raw(
    `create unique index concurrently if not exists approvals_pending on approvals (agent_id, action, target, message) where state = 'pending'`,
  );
  for (const name of Object.keys(indexes)) await knex.raw(`drop index concurrently if exists ${name}`);
  await knex.raw('drop table if exists outgoing_clearances');
  await knex.raw('alter table inbox_items drop column if exists review_id');
  await knex.raw(
    'alter table approvals drop column if exists held, drop column if exists reason, drop column if exists is_review, drop column if exists recipients',
  );
  await knex.raw(
    `alter table approvals add constraint approvals_action_check check (action in ('request_contact', 'remove_contact'))`,
  );
  await knex.raw('alter table agents drop column if exists outgoing_policy');
}
