import pg from 'pg';

/** One SQL statement; with a name it is prepared once for each connection. */
export interface SqlStatement {
  name?: string;
  text: string;
}

export interface Transaction {
  query<Row extends object>(statement: SqlStatement, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends a last statement, if any, together with COMMIT in one round trip.
   * @returns the rows of that statement. Rejects after a rollback when either fails.
   */
  commit<Row extends object>(last?: { statement: SqlStatement; values: readonly unknown[] }): Promise<Row[]>;
  /** Rolls back and releases the connection. Does nothing after a commit. */
  rollback(): Promise<void>;
}

export interface Database {
  query<Row extends object>(statement: SqlStatement, values: readonly unknown[]): Promise<Row[]>;
  begin(): Promise<Transaction>;
  /** Connections in use, and callers that wait for one. */
  usage(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

/** One connection to the server. */
export type Connection = Pick<Database, 'query' | 'begin'>;

/** Timeouts. */
export interface Timeouts {
  /** For a connection. */
  connectionMs: number;
  /** For a lock of another transaction. */
  lockMs: number;
  /** For a statement. */
  statementMs: number;
}

export const defaultTimeouts: Timeouts = { connectionMs: 5_000, lockMs: 10_000, statementMs: 15_000 };

/** The extra time for a response after the statement timeout: a server that hangs does not enforce its timeouts. */
const responseGraceMs = 5_000;
/** The maximum idle time between two statements of a transaction. */
const maxIdleInTransactionMs = 30_000;

/**
 * Planner settings of transactions on the primary: every statement finds its rows by key. By default PostgreSQL scans tables of a few
 * thousand rows for ten of them, because it assumes a disk with slow seeks. A prepared statement keeps the plan of its first context, so
 * statements that also run outside of transactions have to be fast without these settings.
 */
const plannerSettings = { enable_seqscan: 'off', random_page_cost: 1.1 };

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  timeouts?: Timeouts;
  /** Transactions read one snapshot and write nothing, as on a standby. */
  isReadOnly?: boolean;
  /**
   * The URL leads to a pooler that assigns a server connection per transaction: neither prepared statements nor settings stay in a
   * connection.
   */
  hasPooler?: boolean;
  /** Called with each new connection before its first use. A connection that it rejects is closed, and the caller gets the error. */
  onConnect?: ((connection: Connection) => Promise<void>) | undefined;
  /** Called with errors of idle connections; the pool replaces those connections. */
  onError(error: Error): void;
}

// Times and feed positions are bigint columns; all stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** A pool of pipelining connections with a timeout for every wait. */
export function openDatabase(options: DatabaseOptions): Database {
  const { timeouts = defaultTimeouts, hasPooler = false, isReadOnly = false, onConnect } = options;
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
    // A server that does not respond does not enforce its own timeouts.
    query_timeout: timeouts.statementMs + responseGraceMs,
    application_name: 'ams',
    // Statements take milliseconds; JIT compilation would take longer than running them.
    ...(!hasPooler && { ...limits, options: '-c jit=off' }),
    pipeline: true,
    ...(onConnect && {
      verify: (client, finish) => void onConnect(toConnection(client)).then(() => finish(), finish),
    }),
  });
  // `end` does not wait until the server knows: a server that stops meanwhile still reports its end.
  pool.on('error', (error) => {
    if (!pool.ending) options.onError(error);
  });
  // The pool listens to idle clients only. An error without a listener would end the process: one during a transaction, or a second
  // one of a broken connection. The next statement reports it.
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

  /** The connection stays with the pool. */
  function toConnection(client: pg.PoolClient): Connection {
    const held = { query: client.query.bind(client), release: ignoreError } as pg.PoolClient;
    return {
      query: async (statement, values) =>
        (await held.query(asSent(statement, values)).catch(rethrowWithState)).rows,
      begin: async () => openTransaction(held, begin, asSent),
    };
  }

  const maxWaiting = options.poolSize * 25;
  function rejectIfOverloaded(): void {
    if (pool.waitingCount < maxWaiting) return;
    const error = new Error('too many callers wait for a database connection');
    throw Object.assign(error, { code: sqlStates.tooManyConnections });
  }

  return {
    async query(statement, values) {
      rejectIfOverloaded();
      return (await pool.query(asSent(statement, values)).catch(rethrowWithState)).rows;
    },
    async begin() {
      rejectIfOverloaded();
      return openTransaction(await pool.connect().catch(rethrowWithState), begin, asSent);
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
  let firstError: unknown;
  // BEGIN is not awaited: it is sent with the first statement and fails together with it.
  const begun = send(begin);
  begun.catch(ignoreError);

  /** After a failed statement the server refuses the following ones only for that reason: they reject with the first error. */
  async function send(query: string | pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await client.query(query).catch(rethrowWithState);
    } catch (error) {
      firstError ??= error;
      throw stateOf(error) === sqlStates.transactionAborted ? firstError : error;
    }
  }

  /** A connection to a server that takes no writes is closed: a new one may reach another server, or the end of that state. */
  function release(broken?: unknown): void {
    open = false;
    const cause = stateOf(firstError) === sqlStates.readOnly ? firstError : broken;
    client.release(cause instanceof Error ? cause : undefined);
  }

  return {
    async query(statement, values) {
      return (await send(asSent(statement, values))).rows;
    },
    async commit(last) {
      const statement = last && asSent(last.statement, last.values);
      const sent = statement ? send(statement) : begun;
      const [done, end] = await Promise.allSettled([sent, send('COMMIT')]);
      if (end.status === 'rejected') {
        release(end.reason);
        throw end.reason;
      }
      release();
      if (done.status === 'rejected') throw done.reason;
      if (end.value.command !== 'COMMIT')
        throw firstError ?? new Error('the transaction was rolled back by the server');
      return statement ? done.value.rows : [];
    },
    async rollback() {
      if (!open) return;
      try {
        await send('ROLLBACK');
        release();
      } catch (error) {
        release(error);
      }
    },
  };
}

/** A statement after a failed one; a write that the server refuses for now; a lost connection; too many callers; not now. */
export const sqlStates = {
  transactionAborted: '25P02',
  readOnly: '25006',
  connectionFailure: '08006',
  tooManyConnections: '53300',
  cannotConnectNow: '57P03',
};

/**
 * Gives the SQLSTATE of a lost connection to what pg reports without one: plain errors when it cannot connect, when a connection ends, and
 * when the server does not answer in time. Errors of the server and of Node.js have codes; a wrong value is a TypeError.
 */
function rethrowWithState(error: unknown): never {
  const isPlain = error instanceof Error && error.name === 'Error' && stateOf(error) === undefined;
  throw isPlain ? Object.assign(error, { code: sqlStates.connectionFailure }) : error;
}

function stateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** For errors that the next statement of the same connection reports too. */
function ignoreError(): void {}
