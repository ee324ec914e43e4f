import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '../../../../src/shared/error-log.ts';

const run = promisify(execFile);
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];

/** A server program and the environment it needs, or why there is none on this machine. */
export type RedisBinary = { path: string; env: NodeJS.ProcessEnv } | { missing: string };

/** Looks for a Redis or Valkey on PATH, else unpacks Debian's into a cache folder: once, without root, in a few seconds. */
export async function findRedisBinary(): Promise<RedisBinary> {
  for (const name of ['valkey-server', 'redis-server']) {
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      if (folder && (await isExecutable(join(folder, name))))
        return { path: join(folder, name), env: process.env };
    }
  }
  try {
    return await unpackedBinary();
  } catch (error) {
    return {
      missing: `no redis-server on PATH, and Debian's packages could not be unpacked: ${describeError(error)}`,
    };
  }
}

async function unpackedBinary(): Promise<RedisBinary> {
  const caches = [resolve(import.meta.dirname, '../../../../.cache'), join(homedir(), '.cache/ams')];
  for (const cache of caches) {
    if (await isExecutable(binaryIn(cache))) return runnable(cache);
  }
  const cache = await writableFolder(caches);
  await unpackDebian(cache);
  return runnable(cache);
}

function binaryIn(cache: string): string {
  return join(cache, 'redis/usr/bin/redis-server');
}

/** The program finds its libraries beside it. */
async function runnable(cache: string): Promise<RedisBinary> {
  const library = join(cache, 'redis/usr/lib');
  const folders = (await readdir(library)).map((triplet) => join(library, triplet));
  return { path: binaryIn(cache), env: { ...process.env, LD_LIBRARY_PATH: folders.join(delimiter) } };
}

/** Works in a folder of its own and renames it at the end: several test processes may do this at once. */
async function unpackDebian(cache: string): Promise<void> {
  const work = await mkdtemp(join(cache, 'unpack-'));
  try {
    await mkdir(join(work, 'lists/partial'), { recursive: true });
    await mkdir(join(work, 'archives/partial'), { recursive: true });
    const options = [
      '-oDebug::NoLocking=true',
      '-oAPT::Sandbox::User=',
      `-oDir::State=${work}`,
      `-oDir::State::lists=${join(work, 'lists')}`,
      '-oDir::State::status=/var/lib/dpkg/status',
      `-oDir::Cache=${work}`,
      `-oDir::Cache::archives=${join(work, 'archives')}`,
    ];
    const limits = { cwd: work, timeout: 90_000 };
    await run('apt-get', [...options, 'update'], limits);
    await run('apt-get', [...options, 'download', ...packages], limits);
    const archives = (await readdir(work)).filter((name) => name.endsWith('.deb'));
    for (const archive of archives) await run('dpkg', ['-x', archive, 'root'], limits);
    await rename(join(work, 'root'), join(cache, 'redis')).catch(async (error: unknown) => {
      // Another process may have finished first; its result serves as well.
      if (!(await isExecutable(binaryIn(cache)))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function writableFolder(candidates: string[]): Promise<string> {
  const refusals: string[] = [];
  for (const folder of candidates) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
      return folder;
    } catch (error) {
      refusals.push(describeError(error));
    }
  }
  throw new Error(refusals.join('; '));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
