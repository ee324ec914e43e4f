import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux keeps files in memory here. */
const memoryFolder = '/dev/shm';
const tmpfsType = 0x01_02_19_94;
const gibibyte = 1_024 ** 3;

/**
 * A new folder for the PostgreSQL that all test files share: in memory where there is plenty, for each database of a test is some
 * 350 files that are soon removed again, and on a disk that costs more than what the test does.
 */
export async function createDataFolder(): Promise<string> {
  return mkdtemp(join((await hasEnoughMemory()) ? memoryFolder : tmpdir(), 'ams-test-'));
}

async function hasEnoughMemory(): Promise<boolean> {
  const place = await statfs(memoryFolder).catch(() => undefined);
  if (place?.type !== tmpfsType) return false;
  return place.bavail * place.bsize >= 4 * gibibyte && process.availableMemory() >= 8 * gibibyte;
}
