import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { copyDatabase, runOnServer, type TestDatabase } from './database.ts';

const run = promisify(execFile);

/** A database with the schema in place, on a disk of its own. */
export interface SmallDisk extends TestDatabase {
  /** Leaves no free byte. */
  fill(): Promise<void>;
  empty(): Promise<void>;
}

/** Why no disk can be mounted; undefined when one can. */
export async function findMountProblem(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-mount-'));
  try {
    await mountMemory(folder);
    await run('umount', [folder]);
    return undefined;
  } catch {
    return 'mounting a disk takes root and the right to mount';
  } finally {
    await rmdir(folder);
  }
}

/** Mounts 64 MiB of memory and puts a database there; the log of its transactions stays on the disk of the server. */
export async function createSmallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-disk-'));
  await mountMemory(folder);
  const name = `small_${process.pid}_${Date.now()}`;
  await runOnServer(async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const { uid, gid } = await stat(rows[0]?.data_directory ?? '');
    await chown(folder, uid, gid);
    await client.query(`create tablespace ${name} location '${folder}'`);
  });
  const { url, drop } = await copyDatabase(inject('template'), `tablespace ${name}`);
  const filler = join(folder, 'filler');
  return {
    url,
    async fill() {
      await writeFile(filler, Buffer.alloc(64 * 1_024 * 1_024)).catch((error: unknown) => {
        if (Object(error).code !== 'ENOSPC') throw error;
      });
    },
    empty: () => truncate(filler),
    async drop() {
      await drop();
      await runOnServer((client) => client.query(`drop tablespace ${name}`));
      await run('umount', [folder]);
      await rm(folder, { recursive: true });
    },
  };
}

async function mountMemory(folder: string): Promise<void> {
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder]);
}
