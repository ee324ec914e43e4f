import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

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
