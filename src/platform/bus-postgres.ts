import { Pool } from 'pg';
import { batching } from './batching.ts';
import { fillPayloads, packMessage, unpackMessages } from './bus-packing.ts';
import { topicTable } from './bus-topics.ts';
import type { Bus } from './bus.ts';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { listenForever } from './postgres-listener.ts';

export interface PostgresBusOptions {
  url: string;
  /** The one LISTEN channel; installations that share a database need one each. */
  channel: string;
  log: ErrorLog;
}

/**
 * The bus over LISTEN/NOTIFY: one connection listens, one speaks. Calls of `publish` that meet a statement under way travel
 * together in the next one, so that a busy process notifies rarely: PostgreSQL commits notifying transactions one by one.
 */
export function postgresBus({ url, channel, log }: PostgresBusOptions): Bus {
  const report = limitedLog(log);
  const topics = topicTable(report);
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: 1_000,
    query_timeout: 2_000,
    keepAlive: true,
    options: '-c synchronous_commit=off',
  });
  pool.on('error', (error) => report('PostgreSQL bus connection lost', error));
  const listener = listenForever({ url, channel, log: report }, (payload) => {
    for (const { topic, body } of unpackMessages(payload)) topics.dispatch(topic, body);
  });

  const notify = batching<string>(async (packed) => {
    const values = [channel, fillPayloads(packed)];
    await pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', values);
  });

  return {
    async publish(messages) {
      if (messages.length > 0) await notify(messages.map(packMessage));
    },

    async subscribe(topic, handler) {
      const remove = topics.add(topic, handler);
      return async () => {
        remove();
      };
    },

    healthy: () => listener.listening(),

    async close() {
      await Promise.all([listener.close(), pool.end()]);
    },
  };
}
