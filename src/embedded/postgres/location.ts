import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Account, accountForPostgres, canEnter, sharedHome } from './account.ts';
import { type PostgresBinaries, findPostgresBinaries } from './binaries.ts';

export interface PostgresLocation {
  folder: string;
  account: Account | null;
  binaries: PostgresBinaries;
  /** One line for a person when the location is unusual. */
  note: string | null;
}

/**
 * Creates DATA_DIR when it is missing. Only this user can enter it. For root, other users can pass through an empty one, so that PostgreSQL's
 * user reaches its data folder.
 * @returns the real path.
 * @throws when this user cannot write to it.
 */
export function createDataDir(dataDir: string): string {
  const isRoot = process.getuid?.() === 0;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = realpathSync(dataDir);
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  if (isRoot && statSync(path).uid === 0 && readdirSync(path).length === 0) chmodSync(path, 0o711);
  return path;
}

/** Chooses the data folder, the programs and the account that runs them; see accountForPostgres. */
export function chooseLocation(dataDir: string): PostgresLocation {
  const inside = join(dataDir, 'postgres');
  const account = accountForPostgres(findOwner(inside));
  if (account === null || canEnter(account, dataDir)) {
    const binaries = findPostgresBinaries(account, () => dataDir);
    return { folder: inside, account, binaries, note: describeLocation(account, binaries, null) };
  }
  const home = sharedHome();
  const folder = join(home, `data-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
  const outside = accountForPostgres(findOwner(folder));
  const binaries = findPostgresBinaries(outside, () => home);
  return { folder, account: outside, binaries, note: describeLocation(outside, binaries, folder) };
}

function findOwner(folder: string): { uid: number; gid: number } | undefined {
  if (!existsSync(folder)) return undefined;
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}

function describeLocation(
  account: Account | null,
  binaries: PostgresBinaries,
  folder: string | null,
): string | null {
  const parts = [
    ...(binaries.isCopied ? [`its programs were copied to ${binaries.native}`] : []),
    ...(folder === null ? [] : [`its data is in ${folder}`]),
  ];
  if (parts.length === 0) return null;
  const cause = account === null ? 'node_modules is read-only' : `${account.name} cannot enter this checkout`;
  return `PostgreSQL: ${cause}, so ${parts.join(' and ')}`;
}
