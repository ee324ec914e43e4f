import { withTimeout } from '../../shared/timeout.ts';
import { type Connection, defaultTimeouts, sqlStates } from './database.ts';

/** The timeline of the log: PostgreSQL begins a new one whenever a standby is promoted. Null on a standby. */
const timelineStatement = {
  text: 'select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline',
};

/** Prepares for a new timeline, over the first connection to it. */
type OnTimeline = (connection: Connection) => Promise<void>;

/** Checks the server of each new connection, as `onConnect` of a database. */
export interface TimelineGuard {
  onConnect(connection: Connection): Promise<void>;
  /**
   * From now on, no connection to another timeline is used before `onTimeline` has resolved for that. The caller has prepared for the timeline
   * of the connections before. Connections to a standby are refused: they would survive its promotion.
   */
  start(onTimeline: OnTimeline): void;
  /** Calls the listener after that, before the first use of a connection. It must not throw. */
  onChange(listener: () => void): void;
}

/** Notices that a standby was promoted. Every connection ends with the old primary, so a new one is the first contact with the new one. */
export function createTimelineGuard(): TimelineGuard {
  let onTimeline: OnTimeline | undefined;
  const listeners: (() => void)[] = [];
  let current: string | undefined;
  /** Of all connections before the start; null if they differ. */
  let first: string | null | undefined;
  let change: { timeline: string; done: Promise<void> } | undefined;

  async function begin(timeline: string, connection: Connection): Promise<void> {
    await onTimeline?.(connection);
    for (const listener of listeners) listener();
    current = timeline;
  }

  return {
    start(prepare) {
      onTimeline = prepare;
      current = first ?? undefined;
    },
    onChange: (listener) => void listeners.push(listener),
    async onConnect(connection) {
      const [row] = await connection.query<{ timeline: string | null }>(timelineStatement, []);
      const timeline = row?.timeline ?? null;
      if (!onTimeline) {
        first = first === undefined || first === timeline ? timeline : null;
        return;
      }
      if (timeline === null) throw unavailable('this server is a standby', sqlStates.readOnly);
      if (timeline === current) return;
      if (change?.timeline === timeline) {
        await withTimeout(defaultTimeouts.connectionMs, change.done, () => {
          throw unavailable('the feeds are being prepared for a new primary', sqlStates.cannotConnectNow);
        });
        return;
      }
      // Its own connection does the work, so it waits as long as that takes.
      change = { timeline, done: begin(timeline, connection) };
      await change.done.finally(() => {
        change = undefined;
      });
    },
  };
}

function unavailable(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
