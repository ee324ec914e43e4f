import { Pool } from 'pg';
import { coalesceSends } from '../../shared/coalesce.ts';
import { packPayloads, packMessage, unpackMessages } from './payloads.ts';
import { createTopicTable } from './topics.ts';
import type { Bus } from './bus.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { listenForever } from './postgres-listener.ts';

export interface PostgresBusOptions {
  url: string;
  /** The LISTEN channel. Instances that share a database need different channels. */
  channel: string;
  log: ErrorLog;
}

/**
 * The bus over LISTEN/NOTIFY: one connection listens, one sends. Calls of `publish` during a statement share the next one, because
 * PostgreSQL commits notifying transactions one by one.
 */
export function createPostgresBus({ url, channel, log }: PostgresBusOptions): Bus {
  const report = createLimitedLog(log);
  const topics = createTopicTable(report);
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: 1_000,
    query_timeout: 2_000,
    keepAlive: true,
    options: '-c synchronous_commit=off',
  });
  // `end` does not wait until the server has closed the connections.
  pool.on('error', (error) => pool.ending || report('PostgreSQL bus connection lost', error));
  const listener = listenForever({ url, channel, log: report }, (payload) => {
    for (const { topic, body } of unpackMessages(payload)) topics.dispatch(topic, body);
  });

  const notify = coalesceSends<string>(async (packed) => {
    const values = [channel, packPayloads(packed)];
    await pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', values);
  });

  return {
    async publish(messages) {
      if (messages.length > 0) await notify(messages.map(packMessage));
    },

    subscribe: topics.subscribe,
    isHealthy: () => listener.isListening(),

    async close() {
      await Promise.all([listener.close(), pool.end()]);
    },
  };
}
