import type { JWK } from 'oidc-provider';

export interface SigningKeyWatcher {
  /** Loads the keys and reports a change. Never rejects. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface WatchSigningKeysParts<Key extends JWK> {
  load(): Promise<Key[]>;
  /** Called with changed keys. */
  onChange(keys: Key[]): void;
  /** Logs a failed load; the next one tries again. */
  log(message: string, error: unknown): void;
  interval_ms?: number;
}

/** Watches the signing keys: on `refresh`, and every minute, because change messages may be lost. */
export function watchSigningKeys<Key extends JWK>(
  current: readonly Key[],
  parts: WatchSigningKeysParts<Key>,
): SigningKeyWatcher {
  const { load, onChange, log, interval_ms = 60_000 } = parts;
  let ids = keyIds(current);

  async function refresh(): Promise<void> {
    try {
      const keys = await load();
      if (keyIds(keys) === ids) return;
      onChange(keys);
      ids = keyIds(keys);
    } catch (error) {
      log('loading the signing keys failed', error);
    }
  }
  const timer = setInterval(() => void refresh(), interval_ms).unref();
  return { refresh, stop: () => clearInterval(timer) };
}

function keyIds(keys: readonly JWK[]): string {
  return keys.map(({ kid }) => kid).join(' ');
}
