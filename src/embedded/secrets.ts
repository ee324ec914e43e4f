import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from './launcher-error.ts';
import { parseObject } from '../shared/narrow.ts';
import { readIfExists, writePrivateFile } from './private-file.ts';

export interface Secrets {
  readonly postgres_password: string;
  readonly redis_password: string;
  readonly secret_key: string;
}

/**
 * The generated secrets of one data folder, kept in `secrets.json` (0600). Missing ones are generated from 32 random bytes.
 * @throws {LauncherError} when the file is damaged.
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json');
  const text = readIfExists(path);
  const stored = text === null ? {} : parseObject(text);
  if (stored === null) throw damagedError(path);
  const secret = (name: keyof Secrets) => {
    const value = stored[name] ?? randomBytes(32).toString('base64url');
    if (typeof value !== 'string' || !/^[\w-]{32,}$/.test(value)) throw damagedError(path);
    return value;
  };
  const secrets: Secrets = {
    postgres_password: secret('postgres_password'),
    redis_password: secret('redis_password'),
    secret_key: secret('secret_key'),
  };
  const isComplete = Object.keys(secrets).every((name) => name in stored);
  if (isComplete) chmodSync(path, 0o600);
  else writePrivateFile(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

const damagedError = (path: string) =>
  new LauncherError(
    `${path}: is damaged; restore it, or remove it to generate new secrets (existing tokens become invalid)`,
  );
