import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { describeError } from '../../shared/error-log.ts';

/** Milliseconds between two looks. */
const pollIntervalMs = 1_000;

/** Takes one line for whoever runs a migration. */
export type OnLine = (line: string) => void;

interface LockHolder {
  pid: number;
  since: string | null;
  who: string;
}

/** Who keeps a connection from a lock. What belongs to no connection, a prepared transaction, has the process 0. */
async function findLockHolders(client: pg.Client, pid: number): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select held.pid, a.xact_start::text as since, concat_ws(', ', a.usename, nullif(a.application_name, ''),
        case a.backend_type when 'client backend' then a.state else a.backend_type end,
        'open for ' || extract(epoch from clock_timestamp() - a.xact_start)::int || ' s') as who
     from (select distinct unnest(pg_blocking_pids($1)) as pid) held left join pg_stat_activity a on a.pid = held.pid`,
    [pid],
  );
  return rows;
}

/** What to do about a transaction that is waited for. */
function describeHolder({ pid, who }: LockHolder): string {
  if (pid === 0) return 'a prepared transaction (see pg_prepared_xacts)';
  const described = who === '' ? '' : ` (${who})`;
  return `the transaction of process ${pid}${described}; wait for its end, or end it: select pg_terminate_backend(${pid})`;
}

/**
 * Looks from another connection whom a migration waits for, and tells each transaction once. The look holds a snapshot, for which an
 * index that is built beside the service waits, only while it runs.
 * @param pid of the connection that migrates.
 */
export function watchLockWaits(client: pg.Client, pid: number, tell: OnLine) {
  const over = new AbortController();
  const told = new Set<string>();
  let last: string[] = [];

  async function look(): Promise<void> {
    const holders = await findLockHolders(client, pid);
    if (holders.length > 0) last = holders.map(describeHolder);
    for (const holder of holders) {
      const name = `${holder.pid} ${holder.since}`;
      if (!told.has(name)) tell(`the migration waits for ${describeHolder(holder)}`);
      told.add(name);
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      await pause(pollIntervalMs, undefined, { signal: over.signal }).catch(() => 'it is over');
      if (over.signal.aborted) return;
      await look();
    }
  }
  const watching = watch().catch((error: unknown) =>
    tell(`it cannot be seen what the migration waits for: ${describeError(error)}`),
  );
  return {
    /** Whom it waited for last, and what to do about them. */
    lastHolders: (): readonly string[] => last,
    async stop(): Promise<void> {
      over.abort();
      await watching;
    },
  };
}
