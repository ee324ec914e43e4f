import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';

const day = 24 * 3_600_000;
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A statement that waits longer for its lock blocks those after it: it gives up and retries. */
const lockWait = '500ms';
const attempts = 120;
const pauseBetween = 500;

export interface Table {
  name: string;
  /** The column with the id that determines the partition. */
  key: string;
  prefix: 'evt' | 'msg';
  /** Whether the key is the primary key; otherwise rows have a unique index within a partition only. */
  primary: boolean;
  /** Other indexes, not unique: those of the table become parts of indexes with the same names. */
  indexes?: Record<string, string>;
}

/** Changes tables in one transaction with short locks; retries while others hold locks for long. */
export async function inPassing(
  knex: Knex,
  tables: readonly string[],
  change: (trx: Knex.Transaction) => Promise<void>,
): Promise<void> {
  for (let left = attempts; ; left -= 1) {
    try {
      return await knex.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = '${lockWait}'`);
        for (const table of tables) await trx.raw(`lock table ${table} in access exclusive mode`);
        await change(trx);
      });
    } catch (error) {
      const { code } = error as { code?: string };
      if (left === 1 || (code !== '55P03' && code !== '40P01')) throw error;
      await pause(pauseBetween);
    }
  }
}

/**
 * Safe with two releases, because the name stays: statements find the new table under the name of the old one.
 *
 * Makes a table the first partition of a new table with its name. Nothing is rewritten. Rows are checked against the end of the partition
 * while others read and write; the exchange itself is short. A killed run starts again.
 */
export async function partition(knex: Knex, table: Table, newest: string | undefined): Promise<void> {
  const { name, key } = table;
  if (await isPartitioned(knex, name)) return;
  const end = endOfFirst(table.prefix, newest);
  await knex.raw(`drop table if exists ${name}_parted`);
  await inPassing(knex, [name], async (trx) => {
    await trx.raw(`alter table ${name} drop constraint if exists ${name}_first_end`);
    await trx.raw(
      `create table ${name}_parted (like ${name} including defaults including constraints including storage) partition by range (${key})`,
    );
    await trx.raw(`alter table ${name} add constraint ${name}_first_end check (${key} < '${end}') not valid`);
  });
  try {
    await exchange(knex, table, end);
  } catch (error) {
    // Without this, the check would refuse new rows after the end of the partition.
    await inPassing(knex, [name], async (trx) => {
      await trx.raw(`alter table ${name} drop constraint if exists ${name}_first_end`);
    });
    throw error;
  }
}

async function exchange(knex: Knex, table: Table, end: string): Promise<void> {
  const { name, key, primary, indexes = {} } = table;
  await knex.raw(`alter table ${name} validate constraint ${name}_first_end`);
  await inPassing(knex, [name], async (trx) => {
    await trx.raw(`alter table ${name} rename to ${name}_first`);
    await trx.raw(`alter table ${name}_first rename constraint ${name}_pkey to ${name}_first_pkey`);
    await trx.raw(`create table ${name}_default (like ${name}_first including all)`);
    await trx.raw(`alter table ${name}_default drop constraint ${name}_first_end`);
    await trx.raw(`alter table ${name}_parted rename to ${name}`);
    if (primary) await trx.raw(`alter table ${name} add constraint ${name}_pkey primary key (${key})`);
    for (const [index, definition] of Object.entries(indexes)) {
      await trx.raw(`alter index ${index} rename to ${index}_first`);
      await trx.raw(`create index ${index} on ${name} ${definition}`);
    }
    await trx.raw(
      `alter table ${name} attach partition ${name}_first for values from (minvalue) to ('${end}')`,
    );
    await trx.raw(`alter table ${name}_first drop constraint ${name}_first_end`);
    await trx.raw(`alter table ${name} attach partition ${name}_default default`);
  });
}

/** Merges the partitions into one table again. Copies the rows of all partitions but the first; nothing may write meanwhile. */
export async function unite(knex: Knex, table: Table): Promise<void> {
  const { name, indexes = {} } = table;
  if (!(await isPartitioned(knex, name))) return;
  await inPassing(knex, [name], async (trx) => {
    const found: { rows: { first: boolean }[] } = await trx.raw(
      `select to_regclass('${name}_first') is not null as first`,
    );
    if (found.rows[0]?.first) await trx.raw(`alter table ${name} detach partition ${name}_first`);
    else await trx.raw(`create table ${name}_first (like ${name}_default including all)`);
    await trx.raw(`insert into ${name}_first select * from ${name}`);
    await trx.raw(`drop table ${name}`);
    await trx.raw(`alter table ${name}_first rename to ${name}`);
    const keys: { rows: { name: string }[] } = await trx.raw(
      `select conname as name from pg_constraint where conrelid = '${name}'::regclass and contype = 'p'`,
    );
    await trx.raw(`alter table ${name} rename constraint ${keys.rows[0]?.name} to ${name}_pkey`);
    for (const index of Object.keys(indexes)) {
      await trx.raw(`alter index if exists ${index}_first rename to ${index}`);
    }
  });
}

async function isPartitioned(knex: Knex, name: string): Promise<boolean> {
  const { rows }: { rows: { relkind: string }[] } = await knex.raw(
    `select relkind from pg_class where oid = '${name}'::regclass`,
  );
  return rows[0]?.relkind === 'p';
}

/** The midnight after the next one, and after the newest row: rows written until the exchange are before it. */
function endOfFirst(prefix: string, newest: string | undefined): string {
  const latest = Math.max(Date.now(), newest === undefined ? 0 : timeOf(newest));
  return `${prefix}_${encoded((Math.floor(latest / day) + 2) * day)}${'0'.repeat(16)}`;
}

function timeOf(id: string): number {
  let time = 0;
  for (const digit of id.slice(-26, -16)) time = time * 32 + Math.max(0, digits.indexOf(digit));
  return time;
}

function encoded(time: number): string {
  let left = time;
  let text = '';
  for (let place = 0; place < 10; place += 1) {
    text = `${digits[left % 32]}${text}`;
    left = Math.floor(left / 32);
  }
  return text;
}
