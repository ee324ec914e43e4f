import { Client } from 'pg';
import type { ErrorLog } from '../../shared/error-log.ts';

const heartbeatMs = 5_000;

export interface PostgresListener {
  /** True while notifications arrive. */
  isListening(): boolean;
  close(): Promise<void>;
}

/**
 * Keeps one connection that listens on a channel. A lost connection is replaced after 50 ms, and at most 1 s after the server is available
 * again. Notifications in between are missed.
 */
export function listenForever(
  { url, channel, log }: { url: string; channel: string; log: ErrorLog },
  onPayload: (payload: string) => void,
): PostgresListener {
  let current: Client | undefined;
  let closed = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;

  function lost(client: Client, error: unknown): void {
    client.end().catch(() => 'already closed');
    if (closed) return;
    log('PostgreSQL listener lost its connection', error);
    current = undefined;
    failures += 1;
    retry = setTimeout(
      () => {
        connecting = connect();
      },
      Math.min(50 * failures, 1_000),
    );
  }

  async function connect(): Promise<void> {
    const client = new Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    let ended = false;
    const end = (error: unknown): void => {
      if (!ended) lost(client, error);
      ended = true;
    };
    client.on('error', end);
    client.on('end', () => end(new Error('the server ended the connection')));
    client.on('notification', ({ payload }) => {
      try {
        onPayload(payload ?? '');
      } catch (error) {
        log('a notification could not be read', error);
      }
    });
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      end(error);
      return;
    }
    if (ended) return;
    current = client;
    failures = 0;
  }

  const heartbeat = setInterval(() => {
    const client = current;
    client?.query('select 1').catch((error: unknown) => client.emit('error', error));
  }, heartbeatMs);
  heartbeat.unref();
  let connecting = connect();

  return {
    isListening: () => current !== undefined,
    async close() {
      closed = true;
      clearInterval(heartbeat);
      clearTimeout(retry);
      await connecting;
      const client = current;
      current = undefined;
      await client?.end();
    },
  };
}
