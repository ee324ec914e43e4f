import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, runAs } from './account.ts';
import { LauncherError } from '../launcher-error.ts';
import type { PostgresBinaries } from './binaries.ts';
import { readIfExists } from '../private-file.ts';

/** The name of the role, and of the database that it owns. */
export const role = 'ams';

export interface FolderOptions {
  folder: string;
  account: Account | null;
  binaries: PostgresBinaries;
  password: string;
  throwaway: boolean;
}

/**
 * Creates the data folder when it is missing, and sets the password from secrets.json. PostgreSQL must not run.
 * @throws {LauncherError} when the folder was created by another major version, or PostgreSQL's own tools fail.
 */
export async function prepareFolder(options: FolderOptions): Promise<void> {
  const existing = readIfExists(join(options.folder, 'PG_VERSION'))?.trim();
  const major = options.binaries.version.split('.')[0];
  if (existing === undefined) await createFolder(options);
  else if (existing !== major) {
    throw new LauncherError(
      `${options.folder}: was created by PostgreSQL ${existing}, but this is version ${major}: dump it with the old version (git checkout, npm ci, pg_dump) and restore it, or move the folder away to start empty`,
    );
  } else if (readIfExists(passwordMark(options.folder)) !== hashPassword(options.password)) {
    await runSingle(
      options,
      options.folder,
      `ALTER ROLE ${role} PASSWORD '${options.password.replaceAll("'", "''")}'`,
    );
    markPassword(options.folder, options);
  }
}

/** Creates the folder under another name and renames it when complete, so that an interrupted start leaves no partial folder. */
async function createFolder(options: FolderOptions): Promise<void> {
  const { account, binaries, folder, password } = options;
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new LauncherError(`${folder}: is not empty and is not a PostgreSQL data folder; move it away`);
  }
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  const data = join(draft, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  changeOwner(account, draft, data);
  const passwordFile = join(draft, 'password');
  writeFileSync(passwordFile, password, { flag: 'wx', mode: 0o600 });
  changeOwner(account, passwordFile);
  // The builtin provider behaves the same on every machine: lower() handles accents, and the order is by code point.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['-U', role, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const sync = options.throwaway ? ['--no-sync'] : [];
  await runTool(options, 'initdb', ['-D', data, ...access, ...locale, ...sync, '--no-instructions']);
  await runSingle({ account, binaries }, data, `CREATE DATABASE ${role}`);
  markPassword(data, options);
  renameSync(data, folder);
  rmSync(draft, { recursive: true, force: true });
}

const passwordMark = (folder: string) => join(folder, 'ams-password.sha256');
const hashPassword = (password: string) => createHash('sha256').update(password).digest('hex');

function markPassword(folder: string, { password, account }: FolderOptions): void {
  writeFileSync(passwordMark(folder), hashPassword(password), { mode: 0o600 });
  changeOwner(account, passwordMark(folder));
}

function changeOwner(account: Account | null, ...paths: string[]): void {
  if (account === null) return;
  for (const path of paths) chownSync(path, account.uid, account.gid);
}

/** Runs one statement in single-user mode: no client can connect, and no password is needed. */
function runSingle(
  options: Pick<FolderOptions, 'account' | 'binaries'>,
  data: string,
  statement: string,
): Promise<void> {
  return runTool(
    options,
    'postgres',
    ['--single', '-D', data, '-c', 'exit_on_error=on', 'postgres'],
    `${statement}\n`,
  );
}

async function runTool(
  { account, binaries }: Pick<FolderOptions, 'account' | 'binaries'>,
  tool: 'initdb' | 'postgres',
  args: string[],
  input = '',
): Promise<void> {
  const child = spawn(join(binaries.native, 'bin', tool), args, {
    ...runAs(account),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errorOutput += text));
  child.stdin.on('error', () => {}); // it ended before it read everything; the exit code has the result
  child.stdin.end(input);
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'killed'));
  });
  if (code !== 0) throw new LauncherError(`${tool} failed (${findReason(errorOutput) ?? code})`);
}

/** The last error message in a PostgreSQL log. */
export function findReason(log: string): string | null {
  const lines = log.split('\n').map((line) => line.trim());
  const line =
    lines.findLast((text) => /(FATAL|PANIC|initdb: error): /.test(text)) ??
    lines.findLast((text) => /ERROR: /.test(text));
  return line?.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, '') ?? null;
}
