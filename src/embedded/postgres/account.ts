import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync } from 'node:fs';
import { LauncherError, toOneLine } from '../launcher-error.ts';
import { getErrorCode } from '../../shared/narrow.ts';
import { readIfExists } from '../private-file.ts';

/** The user of a child process. Null: the user of this process. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. Root starts it as the owner of an existing data folder, else as `postgres` or `nobody`. No user is
 * created. Any other user runs it directly: null.
 */
export function accountForPostgres(ownerOfFolder?: { uid: number; gid: number }): Account | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = parseAccounts(readIfExists('/etc/passwd') ?? '');
  if (ownerOfFolder !== undefined && ownerOfFolder.uid !== 0) {
    const owner = accounts.find((account) => account.uid === ownerOfFolder.uid);
    return { name: owner?.name ?? `user ${ownerOfFolder.uid}`, ...ownerOfFolder };
  }
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (account) return account;
  }
  return { name: 'nobody', uid: 65_534, gid: 65_534 };
}

/** Parses /etc/passwd. Ignores lines that are not accounts. */
export function parseAccounts(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || !/^-?\d+$/.test(uid ?? '') || !/^-?\d+$/.test(gid ?? '')) return [];
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }]; // macOS writes nobody as -2
  });
}

/** The options of `spawn` to run a child process as the account. */
export function runAs(account: Account | null): { uid?: number; gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

/** Whether the account can enter this folder. The system decides, so access control lists count too. */
export function canEnter(account: Account | null, folder: string): boolean {
  if (account === null) return true;
  const result = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], {
    ...runAs(account),
    cwd: '/',
    stdio: 'ignore',
  });
  if (result.error !== undefined) {
    throw new LauncherError(
      `PostgreSQL does not run as root, and this process cannot run it as ${account.name} (${result.error.message}): start the service as an ordinary user, or set DATABASE_URL`,
    );
  }
  return result.status === 0;
}

/**
 * Creates a folder that every user can enter and only root can write to. It is used when PostgreSQL's user cannot enter the checkout.
 * @throws {LauncherError} when another user created it, or it cannot be created.
 */
export function sharedHome(bases: readonly string[] = ['/var/lib', '/var/tmp']): string {
  let reason = '';
  for (const base of bases) {
    const home = `${base}/ams-embedded`;
    try {
      mkdirSync(home, { mode: 0o755 });
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') {
        reason = toOneLine(error);
        continue;
      }
    }
    const stats = lstatSync(home);
    if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0) {
      throw new LauncherError(`${home}: another user created this folder or can write to it; remove it`);
    }
    return home;
  }
  throw new LauncherError(
    `cannot create a folder for PostgreSQL outside the checkout (${reason}): choose one with DATA_DIR, or set DATABASE_URL`,
  );
}
