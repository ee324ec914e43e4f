import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { copyDatabase, runOnServer, type TestDatabase } from './database.ts';

const run = promisify(execFile);

export interface SmallDisk {
  folder: string;
  /** Leaves no free byte. */
  fill(): Promise<void>;
  /** Removes what `fill` wrote. */
  empty(): Promise<void>;
  unmount(): Promise<void>;
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

/** A disk of 64 MiB of memory. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-disk-'));
  await mountMemory(folder);
  const filler = join(folder, 'filler');
  return {
    folder,
    async fill() {
      await writeFile(filler, Buffer.alloc(64 * 1_024 * 1_024)).catch((error: unknown) => {
        if (Object(error).code !== 'ENOSPC') throw error;
      });
    },
    empty: () => truncate(filler),
    async unmount() {
      await run('umount', [folder]);
      await rm(folder, { recursive: true });
    },
  };
}

/** A database with the schema in place on a small disk. The log of its transactions stays on the disk of the server. */
export async function createSmallDisk(): Promise<TestDatabase & Pick<SmallDisk, 'fill' | 'empty'>> {
  const { folder, fill, empty, unmount } = await mountSmallDisk();
  const name = `small_${process.pid}_${Date.now()}`;
  await runOnServer(async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const { uid, gid } = await stat(rows[0]?.data_directory ?? '');
    await chown(folder, uid, gid);
    await client.query(`create tablespace ${name} location '${folder}'`);
  });
  const { url, drop } = await copyDatabase(inject('template'), `tablespace ${name}`);
  return {
    url,
    fill,
    empty,
    async drop() {
      await drop();
      await runOnServer((client) => client.query(`drop tablespace ${name}`));
      await unmount();
    },
  };
}

async function mountMemory(folder: string): Promise<void> {
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder]);
}
