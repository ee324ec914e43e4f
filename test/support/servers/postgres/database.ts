import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { stopAfterTest, use } from '../../use.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the test server's maintenance database. */
    postgres_url: string;
    template: string;
  }
}

/** Runs as a superuser, in the maintenance database of the test server. */
export async function runOnServer(run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres_url') });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}

/** A connection that ends with the test. */
export async function connectTo(url: string | undefined): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return stopAfterTest(client);
}

/** Runs one statement on a connection of its own. */
// oxlint-disable-next-line typescript/no-explicit-any
export async function queryOnce<Row extends object = any>(
  url: string | undefined,
  sql: string,
  limits: pg.ClientConfig = {},
): Promise<pg.QueryResult<Row>> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, ...limits });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query<Row>(sql);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A database of the caller's own, with the schema in place: a copy of the template that the global setup migrated. */
export function createTestDatabase(): Promise<TestDatabase> {
  return copyDatabase(inject('template'));
}

/** A database of the caller's own with nothing in it. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyDatabase('template0');
}

/** `options` are those of CREATE DATABASE. */
export async function copyDatabase(template: string, options = ''): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await runOnServer((client) =>
    client.query(`create database ${name} template ${template} strategy file_copy ${options}`),
  );
  const url = new URL(inject('postgres_url'));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runOnServer((client) => client.query(`drop database if exists ${name} with (force)`)),
  };
}

/** A database for the tests of one file, and a connection to it. */
export const useConnectedDatabase = () =>
  use(async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const query: pg.Client['query'] = client.query.bind(client);
    return {
      url: database.url,
      query,
      async stop() {
        await client.end();
        await database.drop();
      },
    };
  });
