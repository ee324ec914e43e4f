import type { Knex } from 'knex';

/** The number in a cursor: its first part is base64 without padding. */
const toNumber = (cursor: string) =>
  `convert_from(decode(rpad(split_part(${cursor}, '.', 1), (length(split_part(${cursor}, '.', 1)) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::bigint`;

/** The feed positions of MCP sessions as numbers, which stay valid when SECRET_KEY is replaced. */
export async function up(knex: Knex): Promise<void> {
  for (const name of ['wait', 'stream']) {
    const cursor = `${name}_cursor`;
    await knex.raw(`alter table mcp_sessions alter ${cursor} type bigint using ${toNumber(cursor)}`);
    await knex.raw(`alter table mcp_sessions rename ${cursor} to ${name}_position`);
  }
}

/** Sessions begin again. */
export async function down(knex: Knex): Promise<void> {
  for (const name of ['wait', 'stream']) {
    await knex.raw(`alter table mcp_sessions alter ${name}_position type text using null`);
    await knex.raw(`alter table mcp_sessions rename ${name}_position to ${name}_cursor`);
  }
}
