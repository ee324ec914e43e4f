import type { Database } from './database.ts';

type QueryRunner = Pick<Database, 'query'>;

/** A position in the log of the primary. */
export interface PrimaryPosition {
  /** The log position in bytes. */
  position: number;
  origin: string;
  /** When it was read, in milliseconds since the epoch. */
  at: number;
}

/** The replay position of a standby. */
export interface ReplicaPosition {
  position: number;
  origin: string;
}

/** The system identifier and the timeline of the log, as far as the server shows them: after a failover the timeline differs. */
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

/** @throws when the server is not a standby. */
export async function readReplicaPosition(db: QueryRunner): Promise<ReplicaPosition> {
  const { standby, ...place } = await readPosition<ReplicaPosition & { standby: boolean }>(db, replicaSql);
  if (!standby) throw new Error('it is not a standby');
  return place;
}

async function readPosition<Place extends { origin: string }>(
  db: QueryRunner,
  { position, origin }: { position: string; origin: string },
): Promise<Place> {
  const [may] = await db.query<{ allowed: boolean }>(accessStatement, []);
  const text = `select ${position}, ${may?.allowed ? origin : `'' as origin`}`;
  const [place] = await db.query<Place>({ text }, []);
  if (!place) throw new Error('the server returned no write-ahead log position');
  return place;
}

/** The number of remembered positions of the primary. */
const maxPositions = 120;

/** Remembers a position. Keeps only the positions that are needed for a lag of up to twice `maxLagMs`. */
export function rememberPosition(places: PrimaryPosition[], place: PrimaryPosition, maxLagMs: number): void {
  const [before, last] = places.slice(-2);
  const isClose = before && last && last.at - before.at < (2 * maxLagMs) / maxPositions;
  if (isClose) places.pop();
  places.push(place);
  if (places.length > maxPositions) places.shift();
}

/** The lag of a replica in milliseconds: since when it lacks a position of the primary. Null when it lacks the oldest known position. */
export function getLagMs(places: readonly PrimaryPosition[], position: number, now: number): number | null {
  const lacks = places.findIndex((place) => place.position > position);
  if (places.length === 0 || lacks === 0) return null;
  return lacks === -1 ? 0 : now - (places[lacks]?.at ?? now);
}
