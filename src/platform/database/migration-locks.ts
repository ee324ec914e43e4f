import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { describeError } from '../../shared/error-log.ts';

const pollIntervalMs = 1_000;

/** Receives one line for the operator. */
export type OnMessage = (line: string) => void;

interface LockHolder {
  pid: number;
  since: string | null;
  description: string;
}

/** The transactions that block a connection. A prepared transaction has no connection and the process id 0. */
async function findLockHolders(client: pg.Client, pid: number): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select held.pid, a.xact_start::text as since, concat_ws(', ', a.usename, nullif(a.application_name, ''),
        case a.backend_type when 'client backend' then a.state else a.backend_type end,
        'open for ' || extract(epoch from clock_timestamp() - a.xact_start)::int || ' s') as description
     from (select distinct unnest(pg_blocking_pids($1)) as pid) held left join pg_stat_activity a on a.pid = held.pid`,
    [pid],
  );
  return rows;
}

/** Names a blocking transaction and how to end it. */
function describeHolder({ pid, description }: LockHolder): string {
  if (pid === 0) return 'a prepared transaction (see pg_prepared_xacts)';
  const details = description === '' ? '' : ` (${description})`;
  return `the transaction of process ${pid}${details}; wait until it ends, or end it: select pg_terminate_backend(${pid})`;
}

/**
 * Reports each transaction that a migration waits for, once. It uses another connection and short queries, because a concurrent index build
 * waits for every open snapshot.
 * @param pid the process id of the connection that migrates.
 */
export function watchLockWaits(client: pg.Client, pid: number, onMessage: OnMessage) {
  const stopped = new AbortController();
  const reported = new Set<string>();
  let last: string[] = [];

  async function check(): Promise<void> {
    const holders = await findLockHolders(client, pid);
    if (holders.length > 0) last = holders.map(describeHolder);
    for (const holder of holders) {
      const key = `${holder.pid} ${holder.since}`;
      if (!reported.has(key)) onMessage(`the migration waits for ${describeHolder(holder)}`);
      reported.add(key);
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      await pause(pollIntervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      await check();
    }
  }
  const watching = watch().catch((error: unknown) =>
    onMessage(`cannot check what the migration waits for: ${describeError(error)}`),
  );
  return {
    /** The transactions that it waited for last, and how to end them. */
    lastHolders: (): readonly string[] => last,
    async stop(): Promise<void> {
      stopped.abort();
      await watching;
    },
  };
}
