import type { Knex } from 'knex';

/** How an approval was decided: on its page, by an operator, in the requesting client, or by another agent of the same people. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table approvals
      add column decided_via text check (decided_via in ('page', 'operator', 'program', 'agent')),
      add column decided_by_agent text collate "C" references agents;
    update approvals set decided_via = case when decided_by is null then 'operator' else 'page' end
      where decided_at is not null;
    create index approvals_decided_by_agent on approvals (decided_by_agent) where decided_by_agent is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table approvals drop column decided_via, drop column decided_by_agent');
}
