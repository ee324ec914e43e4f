import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createFolderStore } from '../../../src/platform/blobs/folder-store.ts';
import { createS3Store } from '../../../src/platform/blobs/s3-store.ts';
import { BlobMissing, type BlobStore } from '../../../src/platform/blobs/store.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { missingS3Reason, createTestBucket } from '../../support/servers/s3.ts';

const newKey = () => randomBytes(16).toString('hex');

async function* pieces(bytes: Buffer, size = 70_001): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
}

/** A source that fails after these bytes. */
async function* broken(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* pieces(bytes);
  throw new Error('the sender disconnected');
}

async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ams-blobs-'));
}

interface OpenStore {
  blobs: BlobStore;
  close(): Promise<void>;
}

async function openFolder(): Promise<OpenStore> {
  const root = await temporaryFolder();
  return { blobs: createFolderStore(root), close: () => rm(root, { recursive: true }) };
}

async function openBucket(): Promise<OpenStore> {
  const drafts = await temporaryFolder();
  const { client, bucket, remove } = await createTestBucket();
  return {
    blobs: createS3Store(client, bucket, drafts),
    async close() {
      expect(await readdir(drafts)).toEqual([]);
      await rm(drafts, { recursive: true });
      await remove();
    },
  };
}

/** What every store guarantees. */
function testStore(open: () => Promise<OpenStore>): void {
  let store: OpenStore;
  let blobs: BlobStore;
  beforeAll(async () => {
    store = await open();
    blobs = store.blobs;
  });
  afterAll(() => store.close());

  const bytesOf = async (key: string) => buffer(await blobs.read(key));

  test.each([1, 65_536, 10 * 1024 * 1024])('returns %i bytes as they were written', async (size) => {
    const [key, bytes] = [newKey(), randomBytes(size)];
    await blobs.write(key, pieces(bytes));
    expect(bytes.equals(await bytesOf(key))).toBe(true);
  });

  test('reports a missing key clearly', async () => {
    await expect(blobs.read(newKey())).rejects.toThrow(BlobMissing);
  });

  test('removes a blob, also repeatedly', async () => {
    const key = newKey();
    await blobs.write(key, pieces(Buffer.from('soon gone')));
    await blobs.remove(key);
    await blobs.remove(key);
    await expect(blobs.read(key)).rejects.toThrow(BlobMissing);
  });

  test('hides a blob until it is written', async () => {
    const key = newKey();
    async function* watched(): AsyncGenerator<Buffer> {
      yield Buffer.from('first half, ');
      await expect(blobs.read(key)).rejects.toThrow(BlobMissing);
      yield Buffer.from('second half');
    }
    await blobs.write(key, watched());
    expect(String(await bytesOf(key))).toBe('first half, second half');
  });

  test('keeps nothing of a source that fails, and rejects with its error', async () => {
    const key = newKey();
    await expect(blobs.write(key, broken(randomBytes(300_000)))).rejects.toThrow('the sender disconnected');
    await expect(blobs.read(key)).rejects.toThrow(BlobMissing);
  });

  test('keeps the blob when its replacement fails, and replaces it as a whole', async () => {
    const key = newKey();
    await blobs.write(key, pieces(Buffer.from('the first')));
    await expect(blobs.write(key, broken(Buffer.from('half of the second')))).rejects.toThrow('disconnected');
    expect(String(await bytesOf(key))).toBe('the first');
    await blobs.write(key, pieces(Buffer.from('third')));
    expect(String(await bytesOf(key))).toBe('third');
  });

  test('holds one whole version after concurrent writes', async () => {
    const key = newKey();
    const versions = Array.from({ length: 8 }, () => randomBytes(200_000));
    await Promise.all(versions.map((bytes) => blobs.write(key, pieces(bytes))));
    const held = await bytesOf(key);
    expect(versions.some((bytes) => bytes.equals(held))).toBe(true);
  });

  test('allows a reader to stop early', async () => {
    const key = newKey();
    await blobs.write(key, pieces(randomBytes(2_000_000)));
    for await (const chunk of await blobs.read(key)) {
      expect(chunk).toBeInstanceOf(Buffer);
      break;
    }
    await blobs.remove(key);
  });

  test.each([
    '',
    '.',
    '../../../../etc/passwd',
    `../${'0'.repeat(29)}`,
    'A'.repeat(32),
    '0'.repeat(31),
    '0'.repeat(33),
    `${'0'.repeat(32)}\n`,
    `${'0'.repeat(31)}\0`,
    'att_01JABCDEFGHJKMNPQRSTVWXYZ0',
  ])('refuses the key %j', async (key) => {
    await expect(blobs.read(key)).rejects.toThrow(TypeError);
    await expect(blobs.write(key, pieces(Buffer.from('x')))).rejects.toThrow(TypeError);
    await expect(blobs.remove(key)).rejects.toThrow(TypeError);
  });

  test('reads ranges', async () => {
    const [key, bytes] = [newKey(), randomBytes(300_000)];
    await blobs.write(key, pieces(bytes));
    for (const [start, end] of [
      [0, 0],
      [299_999, 299_999],
      [65_530, 140_000],
    ] as const) {
      const part = await buffer(await blobs.read(key, { start, end }));
      expect(part.equals(bytes.subarray(start, end + 1))).toBe(true);
    }
  });

  test('reports that it can store bytes, and leaves no file', async () => {
    const before = await blobs.list('', 1_000);
    await blobs.check();
    expect(await blobs.list('', 1_000)).toEqual(before);
  });

  test('lists its keys in order, in pages, with their times', async () => {
    const keys = Array.from({ length: 7 }, newKey).sort();
    for (const key of keys) await blobs.write(key, pieces(Buffer.from('listed')));
    const found: string[] = [];
    for (let after = '', full = true; full;) {
      const page = await blobs.list(after, 3);
      expect(page.every(({ written_at }) => Math.abs(Date.now() - written_at) < 60_000)).toBe(true);
      found.push(...page.map(({ key }) => key));
      after = page.at(-1)?.key ?? after;
      full = page.length === 3;
    }
    expect(found).toEqual([...found].sort());
    expect(found.filter((key) => keys.includes(key))).toEqual(keys);
  });
}

describe('blobs in a folder', () => testStore(openFolder));

describeUnless(missingS3Reason, 'blobs in a bucket of S3', () => testStore(openBucket));

describe('the blob folder', () => {
  async function folder(): Promise<{ root: string; blobs: BlobStore }> {
    const root = join(await temporaryFolder(), 'blobs');
    onTestFinished(() => rm(join(root, '..'), { recursive: true }));
    return { root, blobs: createFolderStore(root) };
  }

  test('keeps blobs two levels deep, for its owner only, and no drafts', async () => {
    const { root, blobs } = await folder();
    const key = 'abcd'.repeat(8);
    await blobs.write(key, pieces(Buffer.from('kept')));
    await expect(blobs.write(newKey(), broken(randomBytes(300_000)))).rejects.toThrow('disconnected');
    expect((await stat(join(root, 'ab', 'cd', key))).mode & 0o777).toBe(0o600);
    expect((await stat(root)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, 'drafts'))).toEqual([]);
  });

  test('removes only drafts of dead processes', async () => {
    const { root, blobs } = await folder();
    await blobs.write(newKey(), pieces(Buffer.from('kept')));
    await writeFile(join(root, 'drafts', 'left'), 'half a file');
    await blobs.removeDrafts(Date.now() - 60_000);
    expect(await readdir(join(root, 'drafts'))).toEqual(['left']);
    await blobs.removeDrafts(Date.now() + 60_000);
    expect(await readdir(join(root, 'drafts'))).toEqual([]);
  });

  test('reports why it cannot store bytes', async () => {
    const { root, blobs } = await folder();
    await blobs.check();
    await expect(stat(root)).rejects.toThrow('ENOENT');
    await writeFile(root, 'no folder');
    await expect(blobs.check()).rejects.toThrow(/EACCES|is not a folder/);
    await expect(blobs.write(newKey(), pieces(Buffer.from('lost')))).rejects.toThrow(/ENOTDIR|EEXIST/);
  });

  test('leaves nothing of a file when the disk is full', async () => {
    const { root, blobs } = await folder();
    const script = `
      import { createFolderStore } from ${JSON.stringify(join(import.meta.dirname, '../../../src/platform/blobs/folder-store.ts'))};
      async function* bytes() { for (let turn = 0; turn < 64; turn += 1) yield Buffer.alloc(65_536, 'x'); }
      const fault = await createFolderStore(${JSON.stringify(root)}).write('${'0'.repeat(32)}', bytes()).catch((error) => error);
      console.log(fault.code);`;
    // The file size limit of about 512 KiB has the effect of a full disk.
    const limited = `trap '' XFSZ; ulimit -f 512; exec "$@"`;
    const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, 'sh', ...node]);
    expect(stdout.trim()).toBe('EFBIG');
    expect(await readdir(join(root, 'drafts'))).toEqual([]);
    await expect(blobs.read('0'.repeat(32))).rejects.toThrow(BlobMissing);
  });

  test('does not report blobs as removed when the folder is missing', async () => {
    const { root, blobs } = await folder();
    const key = newKey();
    await blobs.write(key, pieces(Buffer.from('kept')));
    await rename(root, `${root}-away`);
    const fault: unknown = await blobs.read(key).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'ENOENT' });
    expect(fault).not.toBeInstanceOf(BlobMissing);
    await rename(`${root}-away`, root);
    expect(String(await buffer(await blobs.read(key)))).toBe('kept');
  });
});
