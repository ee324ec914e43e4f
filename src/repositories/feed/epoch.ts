import { type Queryable, statement } from '../queryable.ts';

/**
 * The identity of the database and the table. The fingerprint adds the server and its timeline, which changes with a point-in-time
 * recovery or a promotion.
 */
const identity = `current_database_oid.oid || '/' || 'feed_heads'::regclass::oid`;
const ofDatabase = `(select oid from pg_database where datname = current_database()) current_database_oid`;

const statements = {
  canReadServer: statement(
    'feed_epoch.can_read_server',
    `select bool_and(has_function_privilege(f, 'execute')) as is_allowed
     from unnest(array['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)']) f`,
  ),
  readFingerprint: statement(
    'feed_epoch.read_fingerprint',
    `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || ${identity} as fingerprint
     from ${ofDatabase}`,
  ),
  readPlace: statement(
    'feed_epoch.read_place',
    `select current_database() as name, (select system_identifier from pg_control_system()) || '/' || ${identity} as place
     from ${ofDatabase}`,
  ),
  readPartialPlace: statement(
    'feed_epoch.read_partial_place',
    `select current_database() as name, ${identity} as place from ${ofDatabase}`,
  ),
  readPartialFingerprint: statement(
    'feed_epoch.read_partial_fingerprint',
    `select ${identity} as fingerprint from ${ofDatabase}`,
  ),
  find: statement('feed_epoch.find', 'select fingerprint, since from feed_origin'),
  lock: statement('feed_epoch.lock', 'lock table feed_origin in exclusive mode'),
  update: statement(
    'feed_epoch.update',
    `insert into feed_origin (fingerprint, since) values ($1, $2)
     on conflict (one) do update set fingerprint = excluded.fingerprint, since = excluded.since`,
  ),
  countFeeds: statement('feed_origin.count_feeds', 'select count(*)::int as feeds from feed_heads'),
  beginRange: statement(
    'feed_epoch.begin_range',
    `with next as (
       select agent_id, last_number from feed_heads where agent_id > $1 order by agent_id limit $2 for no key update
     ), updated as (
       update feed_heads h set ended_stretches = array_append(h.ended_stretches, n.last_number),
         last_number = (n.last_number / $3::bigint + 1) * $3::bigint
       from next n where h.agent_id = n.agent_id
     )
     select agent_id from next order by agent_id`,
  ),
};

/** The feed epoch: the database that assigned the numbers of the feeds. */
export function feedEpochRepository(db: Queryable) {
  async function canReadServer(): Promise<boolean> {
    return (await db.query<{ is_allowed: boolean }>(statements.canReadServer, []))[0]?.is_allowed ?? false;
  }

  return {
    /** The fingerprint of this database; without the server and its timeline where the role may not read them. */
    async fingerprint(): Promise<string> {
      const read = (await canReadServer()) ? statements.readFingerprint : statements.readPartialFingerprint;
      return (await db.query<{ fingerprint: string }>(read, []))[0]?.fingerprint ?? '';
    },
    /** The name of the database and its place, which the promotion of a standby does not change. */
    async identifyDatabase(): Promise<{ name: string; place: string }> {
      const read = (await canReadServer()) ? statements.readPlace : statements.readPartialPlace;
      const [found] = await db.query<{ name: string; place: string }>(read, []);
      return found ?? { name: '', place: '' };
    },
    async find(): Promise<{ fingerprint: string; since: number } | undefined> {
      return (await db.query<{ fingerprint: string; since: number }>(statements.find, []))[0];
    },
    /** Locks the table until the transaction ends. Readers are not blocked. */
    async lock(): Promise<void> {
      await db.query(statements.lock, []);
    },
    async countFeeds(): Promise<number> {
      const [row] = await db.query<{ feeds: number }>(statements.countFeeds, []);
      return row?.feeds ?? 0;
    },
    async update(fingerprint: string, since: number): Promise<void> {
      await db.query(statements.update, [fingerprint, since]);
    },
    /** Begins a new range of numbers in the next `limit` feeds, by agent id; returns the agent ids. The range begins at a multiple of `length`. */
    async beginRange(after: string, limit: number, length: number): Promise<string[]> {
      const rows = await db.query<{ agent_id: string }>(statements.beginRange, [after, limit, length]);
      return rows.map(({ agent_id }) => agent_id);
    },
  };
}
