import type { Database } from './database.ts';

type QueryRunner = Pick<Database, 'query'>;

/** Where the primary's log has come to. */
export interface PrimaryPosition {
  /** Bytes of the log that a standby can have. */
  position: number;
  origin: string;
  /** When it was asked, in milliseconds since the epoch. */
  at: number;
}

/** Where a standby has come to in replaying it. */
export interface ReplicaPosition {
  position: number;
  origin: string;
}

/** The cluster and the branch of its log, as far as the server lets us look: one cut off by a failover has another past. */
const accessStatement = {
  text: `select bool_and(has_function_privilege(f, 'execute')) as allowed
    from unnest(array['pg_control_system()', 'pg_control_checkpoint()', 'pg_walfile_name(pg_lsn)']) f`,
};

const primarySql = {
  position: `pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as position`,
  origin: `(select system_identifier from pg_control_system()) || '/' ||
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int as origin`,
};

const replicaSql = {
  position: `pg_is_in_recovery() as standby, pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position`,
  origin: `(select system_identifier from pg_control_system()) || '/' ||
    (select timeline_id from pg_control_checkpoint()) as origin`,
};

export function readPrimaryPosition(db: QueryRunner): Promise<Omit<PrimaryPosition, 'at'>> {
  return readPosition<Omit<PrimaryPosition, 'at'>>(db, primarySql);
}

/** @throws when the server is no standby. */
export async function readReplicaPosition(db: QueryRunner): Promise<ReplicaPosition> {
  const { standby, ...place } = await readPosition<ReplicaPosition & { standby: boolean }>(db, replicaSql);
  if (!standby) throw new Error('it is no standby');
  return place;
}

async function readPosition<Place extends { origin: string }>(
  db: QueryRunner,
  { position, origin }: { position: string; origin: string },
): Promise<Place> {
  const [may] = await db.query<{ allowed: boolean }>(accessStatement, []);
  const text = `select ${position}, ${may?.allowed ? origin : `'' as origin`}`;
  const [place] = await db.query<Place>({ text }, []);
  if (!place) throw new Error('the server does not tell its place');
  return place;
}

/** Places of the primary that are remembered. */
const maxPositions = 120;

/** Remembers a place; not more of them than are needed to tell delays up to twice `most_behind_ms`. */
export function rememberPosition(
  places: PrimaryPosition[],
  place: PrimaryPosition,
  most_behind_ms: number,
): void {
  const [before, last] = places.slice(-2);
  const near = before && last && last.at - before.at < (2 * most_behind_ms) / maxPositions;
  if (near) places.pop();
  places.push(place);
  if (places.length > maxPositions) places.shift();
}

/**
 * How far behind a replica is, in milliseconds: since when it lacks what the primary had. Null when it lacks the first thing that is
 * known of the primary: then nobody can tell.
 */
export function getLagMs(places: readonly PrimaryPosition[], position: number, now: number): number | null {
  const lacks = places.findIndex((place) => place.position > position);
  if (places.length === 0 || lacks === 0) return null;
  return lacks === -1 ? 0 : now - (places[lacks]?.at ?? now);
}
