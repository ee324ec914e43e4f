import { repository, sql } from '../sql.ts';

/**
 * The identity of the database and the table. The fingerprint adds the server and its timeline, which changes with a point-in-time
 * recovery or a promotion.
 */
const identity = `current_database_oid.oid || '/' || 'feed_heads'::regclass::oid`;
const ofDatabase = `(select oid from pg_database where datname = current_database()) current_database_oid`;

/** The feed epoch: the database that assigned the numbers of the feeds. */
export const feedEpochRepository = repository(
  {
    find: sql.row<[], { fingerprint: string; since: number }>(
      'feed_epoch.find',
      'select fingerprint, since from feed_origin',
    ),
    /** Locks the table until the transaction ends. Readers are not blocked. */
    lock: sql.run<[]>('feed_epoch.lock', 'lock table feed_origin in exclusive mode'),
    countFeeds: sql.value<[], number>(
      'feed_origin.count_feeds',
      'select count(*)::int as feeds from feed_heads',
    ),
    update: sql.run<[fingerprint: string, since: number]>(
      'feed_epoch.update(fingerprint, since)',
      `insert into feed_origin (fingerprint, since) values (:fingerprint, :since)
       on conflict (one) do update set fingerprint = excluded.fingerprint, since = excluded.since`,
    ),
    /** Begins a new range of numbers in the next `limit` feeds, by agent id; returns the agent ids. The range begins at a multiple of `length`. */
    beginRange: sql.values<[after: string, limit: number, length: number], string>(
      'feed_epoch.begin_range(after, limit, length)',
      `with next as (
         select agent_id, last_number from feed_heads where agent_id > :after order by agent_id limit :limit for no key update
       ), updated as (
         update feed_heads h set ended_stretches = array_append(h.ended_stretches, n.last_number),
           last_number = (n.last_number / :length::bigint + 1) * :length::bigint
         from next n where h.agent_id = n.agent_id
       )
       select agent_id from next order by agent_id`,
    ),
    canReadServer: sql.value<[], boolean>(
      'feed_epoch.can_read_server',
      `select bool_and(has_function_privilege(f, 'execute')) as is_allowed
       from unnest(array['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)']) f`,
    ),
    readFingerprint: sql.value<[], string>(
      'feed_epoch.read_fingerprint',
      `select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || ${identity} as fingerprint
       from ${ofDatabase}`,
    ),
    readPartialFingerprint: sql.value<[], string>(
      'feed_epoch.read_partial_fingerprint',
      `select ${identity} as fingerprint from ${ofDatabase}`,
    ),
    readPlace: sql.single<[], { name: string; place: string }>(
      'feed_epoch.read_place',
      `select current_database() as name, (select system_identifier from pg_control_system()) || '/' || ${identity} as place
       from ${ofDatabase}`,
    ),
    readPartialPlace: sql.single<[], { name: string; place: string }>(
      'feed_epoch.read_partial_place',
      `select current_database() as name, ${identity} as place from ${ofDatabase}`,
    ),
  },
  (_db, { canReadServer, readFingerprint, readPartialFingerprint, readPlace, readPartialPlace }) => ({
    /** The fingerprint of this database; without the server and its timeline where the role may not read them. */
    fingerprint: async () => ((await canReadServer()) ? readFingerprint() : readPartialFingerprint()),
    /** The name of the database and its place, which the promotion of a standby does not change. */
    identifyDatabase: async () => ((await canReadServer()) ? readPlace() : readPartialPlace()),
  }),
);
