import type { JWK } from 'oidc-provider';

export interface KeyFollower {
  /** Looks whether the keys have changed. Never rejects. */
  look(): Promise<void>;
  stop(): void;
}

export interface FollowKeysParts {
  load(): Promise<JWK[]>;
  /** Told of keys that are others than before. */
  use(keys: JWK[]): void;
  /** Told when they could not be read; the next look will. */
  log(message: string, error: unknown): void;
  every_ms?: number;
}

/** Follows the signing keys of the service: when it is told to look, and by itself every minute, since messages may get lost. */
export function followKeys(current: readonly JWK[], parts: FollowKeysParts): KeyFollower {
  const { load, use, log, every_ms = 60_000 } = parts;
  let ids = idsOf(current);

  async function look(): Promise<void> {
    try {
      const keys = await load();
      if (idsOf(keys) === ids) return;
      use(keys);
      ids = idsOf(keys);
    } catch (error) {
      log('the signing keys could not be read', error);
    }
  }
  const clock = setInterval(() => void look(), every_ms).unref();
  return { look, stop: () => clearInterval(clock) };
}

function idsOf(keys: readonly JWK[]): string {
  return keys.map(({ kid }) => kid).join(' ');
}
