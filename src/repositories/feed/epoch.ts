import { type Queryable, statement } from '../queryable.ts';

/**
 * What tells one life of a database from another: another server, another branch of its log after a recovery to a point in time or a
 * promotion, another database on the same server, another table in the same database.
 */
const identity = `current_database_oid.oid || '/' || 'feed_heads'::regclass::oid`;
const ofDatabase = `(select oid from pg_database where datname = current_database()) current_database_oid`;

const statements = {
  allowed: statement(
    'feed_origin.allowed',
    `select bool_and(has_function_privilege(f, 'execute')) as allowed
     from unnest(array['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)']) f`,
  ),
  whole: statement(
    'feed_origin.whole',
    `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || ${identity} as fingerprint
     from ${ofDatabase}`,
  ),
  place: statement(
    'feed_origin.place',
    `select current_database() as name, (select system_identifier from pg_control_system()) || '/' || ${identity} as place
     from ${ofDatabase}`,
  ),
  partOfPlace: statement(
    'feed_origin.part_of_place',
    `select current_database() as name, ${identity} as place from ${ofDatabase}`,
  ),
  part: statement('feed_origin.part', `select ${identity} as fingerprint from ${ofDatabase}`),
  find: statement('feed_origin.find', 'select fingerprint, since from feed_origin'),
  lock: statement('feed_origin.lock', 'lock table feed_origin in exclusive mode'),
  update: statement(
    'feed_origin.update',
    `insert into feed_origin (fingerprint, since) values ($1, $2)
     on conflict (one) do update set fingerprint = excluded.fingerprint, since = excluded.since`,
  ),
  countFeeds: statement('feed_origin.count_feeds', 'select count(*)::int as feeds from feed_heads'),
  beginRange: statement(
    'feed_origin.begin_stretch',
    `with front as (
       select agent_id, last_number from feed_heads where agent_id > $1 order by agent_id limit $2 for no key update
     ), begun as (
       update feed_heads h set ended_stretches = array_append(h.ended_stretches, s.last_number),
         last_number = (s.last_number / $3::bigint + 1) * $3::bigint
       from front s where h.agent_id = s.agent_id
     )
     select agent_id from front order by agent_id`,
  ),
};

/** Which database gave out the numbers of the feeds. */
export function feedEpochRepository(db: Queryable) {
  return {
    /** What this database is known by now; less is told apart where the server does not let us look. */
    async fingerprint(): Promise<string> {
      const [row] = await db.query<{ allowed: boolean }>(statements.allowed, []);
      const question = row?.allowed ? statements.whole : statements.part;
      const [found] = await db.query<{ fingerprint: string }>(question, []);
      return found?.fingerprint ?? '';
    },
    /** The database by its name and by where it is, which a promotion of a standby does not change. */
    async identifyDatabase(): Promise<{ name: string; place: string }> {
      const [row] = await db.query<{ allowed: boolean }>(statements.allowed, []);
      const question = row?.allowed ? statements.place : statements.partOfPlace;
      const [found] = await db.query<{ name: string; place: string }>(question, []);
      return found ?? { name: '', place: '' };
    },
    async find(): Promise<{ fingerprint: string; since: number } | undefined> {
      return (await db.query<{ fingerprint: string; since: number }>(statements.find, []))[0];
    },
    /** One after the other, until the transaction ends; readers are not held up. */
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
    /** Begins a new stretch of numbers in the next feeds after this agent's; answers whose. */
    async beginRange(after: string, limit: number, length: number): Promise<string[]> {
      const rows = await db.query<{ agent_id: string }>(statements.beginRange, [after, limit, length]);
      return rows.map(({ agent_id }) => agent_id);
    },
  };
}
