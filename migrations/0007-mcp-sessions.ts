import type { Knex } from 'knex';

/** MCP sessions: any API process can serve any request of a session, and sessions survive a restart or a flush of Redis. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mcp_sessions (
      id_hash bytea primary key,
      agent_id text collate "C" not null references agents,
      protocol_version text not null,
      client jsonb not null,
      created_at bigint not null,
      seen_at bigint not null
    );
    create index mcp_sessions_agent on mcp_sessions (agent_id);
    create index mcp_sessions_seen on mcp_sessions (seen_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table mcp_sessions');
}
