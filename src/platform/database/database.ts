import pg from 'pg';
import { CorkingSocket } from './corking-socket.ts';

/** One SQL statement; with a name it is prepared once for each connection. */
export interface SqlStatement {
  name?: string;
  text: string;
}

export interface Transaction {
  query<Row extends object>(statement: SqlStatement, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends a last statement, when there is one, and COMMIT in one round trip; answers that statement's rows.
   * Rejects, with everything undone, when either fails.
   */
  commit<Row extends object>(last?: { statement: SqlStatement; values: readonly unknown[] }): Promise<Row[]>;
  /** Undoes everything and gives the connection back. Harmless after commit. */
  rollback(): Promise<void>;
}

export interface Database {
  query<Row extends object>(statement: SqlStatement, values: readonly unknown[]): Promise<Row[]>;
  begin(): Promise<Transaction>;
  /** Connections in use and callers that wait for one. */
  usage(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

/** The longest waits, in milliseconds. */
export interface Timeouts {
  /** For a connection. */
  connectionMs: number;
  /** For a lock that somebody else holds. */
  lockMs: number;
  /** For a statement. */
  statementMs: number;
}

export const defaultTimeouts: Timeouts = { connectionMs: 5_000, lockMs: 10_000, statementMs: 15_000 };

/** How much longer than a statement may take its answer is waited for, in milliseconds: a server that hangs keeps no limits. */
const responseGraceMs = 5_000;
/** Longest pause between two statements of a transaction, in milliseconds. */
const maxIdleInTransactionMs = 30_000;

/**
 * How the statements of a transaction are planned, unless it is one of a standby: each of them finds its rows by their keys. Left alone
 * PostgreSQL reads tables of a few thousand rows from end to end for ten of them, since it counts with a disk that seeks. A statement that is
 * planned once keeps the plan of where it was planned: those that run outside of transactions as well must be good without this.
 */
const plannerSettings = { enable_seqscan: 'off', random_page_cost: 1.1 };

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  timeouts?: Timeouts;
  /** Transactions see one snapshot and change nothing: what a standby can do. */
  isReadOnly?: boolean;
  /**
   * Behind the address is a pooler that gives every transaction another connection to the server: nothing is kept in a connection,
   * neither prepared statements nor limits.
   */
  hasPooler?: boolean;
  /** Called with faults of idle connections; the pool replaces them by itself. */
  onError(error: Error): void;
}

// Times and numbers of the feed are bigint columns; all stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** A pool of pipelining connections with limits on every wait, so that a stuck query never becomes a stuck caller. */
export function openDatabase(options: DatabaseOptions): Database {
  const { timeouts = defaultTimeouts, hasPooler = false, isReadOnly = false } = options;
  const limits = {
    statement_timeout: timeouts.statementMs,
    lock_timeout: timeouts.lockMs,
    idle_in_transaction_session_timeout: maxIdleInTransactionMs,
  };
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: timeouts.connectionMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // The server's limits mean nothing when it does not answer at all.
    query_timeout: timeouts.statementMs + responseGraceMs,
    application_name: 'ams',
    // Statements here take milliseconds; compiling one takes longer than running it.
    ...(!hasPooler && { ...limits, options: '-c jit=off' }),
    pipeline: true,
    stream: () => new CorkingSocket(),
  });
  pool.on('error', options.onError);
  // The pool listens to idle clients only, and a fault nobody listens to would end the process: one in the middle of a
  // transaction, or the second one of a connection that is given up. The next statement reports it.
  pool.on('connect', (client) => void client.on('error', ignoreError));

  const begin = [
    isReadOnly ? 'begin isolation level repeatable read read only' : 'begin',
    ...Object.entries({
      ...(hasPooler && { ...limits, jit: 'off' }),
      ...(!isReadOnly && plannerSettings),
    }).map(setLocal),
  ].join('; ');
  const asSent = ({ name, text }: SqlStatement, values: readonly unknown[]) => {
    return { ...(!hasPooler && name !== undefined && { name }), text, values: [...values] };
  };

  const mostWaiting = options.poolSize * 25;
  function refuseCrowd(): void {
    if (pool.waitingCount >= mostWaiting) throw new Error('too many callers wait for a database connection');
  }

  return {
    async query(statement, values) {
      refuseCrowd();
      return (await pool.query(asSent(statement, values))).rows;
    },
    async begin() {
      refuseCrowd();
      return openTransaction(await pool.connect(), begin, asSent);
    },
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}

function setLocal([name, value]: [string, string | number]): string {
  return `set local ${name} = ${value}`;
}

function openTransaction(
  client: pg.PoolClient,
  begin: string,
  asSent: (statement: SqlStatement, values: readonly unknown[]) => pg.QueryConfig,
): Transaction {
  let open = true;
  // BEGIN is not waited for: it travels with the first statement, and fails together with it.
  const begun = client.query(begin);
  begun.catch(ignoreError);

  function release(broken?: unknown): void {
    open = false;
    client.release(broken instanceof Error ? broken : undefined);
  }

  return {
    async query(statement, values) {
      return (await client.query(asSent(statement, values))).rows;
    },
    async commit(last) {
      const statement = last && asSent(last.statement, last.values);
      const sent = statement ? client.query(statement) : begun;
      const [done, end] = await Promise.allSettled([sent, client.query('COMMIT')]);
      if (end.status === 'rejected') {
        release(end.reason);
        throw end.reason;
      }
      release();
      if (done.status === 'rejected') throw done.reason;
      if (end.value.command !== 'COMMIT') throw new Error('the transaction was rolled back by the server');
      return statement ? done.value.rows : [];
    },
    async rollback() {
      if (!open) return;
      try {
        await client.query('ROLLBACK');
        release();
      } catch (error) {
        release(error);
      }
    },
  };
}

/** For faults that the next statement on the same connection reports as well. */
function ignoreError(): void {}
