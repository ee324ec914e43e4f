import type { Queryable } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** An encrypted value, and the context that it is bound to. */
interface SealedValue {
  /** The primary key of its row. */
  key: string;
  about: string;
  sealed: Buffer;
}

/**
 * The methods for one column.
 * @param key an expression for the primary key
 * @param about an expression for the context of a value
 */
function column(table: string, name: string, key: string, about = key) {
  const statement = `${table}.${name}`;
  const methods = repository({
    /** Locks the rows until the transaction ends. */
    lock: sql.rows<[after: string, limit: number], SealedValue>(
      `${statement}.lock(after, limit)`,
      `select ${key} as key, ${about} as about, ${name} as sealed from ${table}
       where ${name} is not null and ${key} > :after order by ${key} limit :limit for no key update`,
    ),
    replace: sql.run<[values: readonly Pick<SealedValue, 'key' | 'sealed'>[]]>(
      `${statement}.replace`,
      `update ${table} set ${name} = n.sealed from unnest(:keys::text[], :sealed::bytea[]) n (key, sealed) where ${key} = n.key`,
      (values) => ({ keys: values.map((value) => value.key), sealed: values.map(({ sealed }) => sealed) }),
    ),
  });
  return { table, name, methods };
}

const pushConfig = `task_id || '/' || id`;

const columns = [
  column('webhooks', 'secret', 'id'),
  column('webhooks', 'previous_secret', 'id'),
  column('event_subscriptions', 'secret', 'id'),
  column('event_subscriptions', 'previous_secret', 'id'),
  column('notification_channels', 'secret', `account_id || '/' || kind`, 'account_id'),
  column('notification_messages', 'token', 'id'),
  column('a2a_push_configs', 'credentials', pushConfig, `${pushConfig} || '/credentials'`),
  column('a2a_push_configs', 'token', pushConfig, `${pushConfig} || '/token'`),
  column('remote_agents', 'credential', 'agent_id', `'remote ' || agent_id`),
  column('remote_invitations', 'token', 'id'),
  column('signing_keys', 'encrypted_key', 'id'),
];

/** Every column with encrypted values. */
export const sealedValuesRepository = (db: Queryable) => ({
  columns: columns.map(({ table, name, methods }) => ({ table, name, ...methods(db) })),
});
