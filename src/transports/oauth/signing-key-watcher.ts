import type { JWK } from 'oidc-provider';

export interface SigningKeyWatcher {
  /** Looks whether the keys have changed. Never rejects. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface WatchSigningKeysParts {
  load(): Promise<JWK[]>;
  /** Told of keys that are others than before. */
  onChange(keys: JWK[]): void;
  /** Told when they could not be read; the next look will. */
  log(message: string, error: unknown): void;
  interval_ms?: number;
}

/** Follows the signing keys of the service: when it is told to look, and by itself every minute, since messages may get lost. */
export function watchSigningKeys(current: readonly JWK[], parts: WatchSigningKeysParts): SigningKeyWatcher {
  const { load, onChange, log, interval_ms = 60_000 } = parts;
  let ids = keyIds(current);

  async function refresh(): Promise<void> {
    try {
      const keys = await load();
      if (keyIds(keys) === ids) return;
      onChange(keys);
      ids = keyIds(keys);
    } catch (error) {
      log('the signing keys could not be read', error);
    }
  }
  const clock = setInterval(() => void refresh(), interval_ms).unref();
  return { refresh, stop: () => clearInterval(clock) };
}

function keyIds(keys: readonly JWK[]): string {
  return keys.map(({ kid }) => kid).join(' ');
}
