import type { Queryable } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** An encrypted value, and the context that it is bound to. */
interface SealedValue {
  /** The place of its row (ctid), which counts while the row is locked. */
  at: string;
  about: string;
  sealed: Buffer;
}

/** The methods for one column. Its values are bound to the result of an expression. */
function column(table: string, name: string, about: string) {
  const statement = `${table}.${name}`;
  const methods = repository({
    /** Locks the rows until the transaction ends. */
    lock: sql.rows<[after: string, limit: number], SealedValue>(
      `${statement}.lock(after, limit)`,
      `select ctid::text as at, ${about} as about, ${name} as sealed from ${table}
       where ${name} is not null and ctid > cast(:after as tid) order by ctid limit :limit for update`,
    ),
    replace: sql.run<[values: readonly Pick<SealedValue, 'at' | 'sealed'>[]]>(
      `${statement}.replace`,
      `update ${table} set ${name} = n.sealed from unnest(cast(:places as tid[]), cast(:sealed as bytea[])) n (at, sealed) where ctid = n.at`,
      (values) => ({ places: values.map(({ at }) => at), sealed: values.map(({ sealed }) => sealed) }),
    ),
  });
  return { table, name, methods };
}

const columns = [
  column('webhooks', 'secret', 'id'),
  column('webhooks', 'previous_secret', 'id'),
  column('event_subscriptions', 'secret', 'id'),
  column('event_subscriptions', 'previous_secret', 'id'),
  column('notification_channels', 'secret', 'account_id'),
  column('notification_messages', 'token', 'id'),
  column('a2a_push_configs', 'credentials', `task_id || '/' || id || '/credentials'`),
  column('a2a_push_configs', 'token', `task_id || '/' || id || '/token'`),
  column('remote_agents', 'credential', `'remote ' || agent_id`),
  column('remote_invitations', 'token', 'id'),
  column('signing_keys', 'encrypted_key', 'id'),
];

/** Every column with encrypted values. */
export const sealedValuesRepository = (db: Queryable) => ({
  columns: columns.map(({ table, name, methods }) => ({ table, name, ...methods(db) })),
});
