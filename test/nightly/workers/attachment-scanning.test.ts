import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Core } from '../../../src/compose.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { attachmentScanning, packJobs } from '../../../src/jobs/outbox-jobs.ts';
import { BlobMissing } from '../../../src/platform/blobs/store.ts';
import { commitStatement } from '../../../src/work/commit.ts';
import { createRepositories } from '../../../src/repositories/index.ts';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import { startService, type TestService } from '../../support/service.ts';
import { buildZip } from '../../support/zip.ts';
import { override } from '../../support/override.ts';
import { backends } from '../../support/service.ts';

/** An archive that unpacks to more than it declares. */
const zipBomb = buildZip([{ name: 'zeros', bytes: Buffer.alloc(1_000), declared: 100 }]);
const waitOptions = { timeout: 20_000, interval: 20 };

interface Upload {
  /** Stored bytes. The record describes these bytes unless the case overrides it. */
  bytes: Buffer | null;
  size_bytes?: number;
  sha256?: string;
  /** Delay in milliseconds before the sweep takes the attachment; long, so that it does not affect other tests. */
  sweep_after?: number;
}

/** As an upload does: store the bytes first, then add their row and its job in one transaction. */
async function upload(core: Core, uploaderId: string, { bytes, sweep_after = 600_000, ...said }: Upload) {
  const now = Date.now();
  const attachment = {
    id: newId('attachment'),
    uploader_id: uploaderId,
    storage_key: randomBytes(16).toString('hex'),
    filename: 'notes.txt',
    content_type: 'text/plain',
    size_bytes: bytes?.byteLength ?? 1,
    sha256: createHash('sha256')
      .update(bytes ?? '')
      .digest('hex'),
    created_at: now,
    expires_at: null,
    preview: null,
    ...said,
  };
  if (bytes) await core.blobs.write(attachment.storage_key, chunksOf(bytes));
  const transaction = await core.database.begin();
  await createRepositories(transaction).attachments.insert(attachment);
  const jobs = [{ job: attachmentScanning.name, subject_id: attachment.id }];
  const nothing = { events: [], entries: [], keys: [], touched: [], raised: [] };
  const record = { ...nothing, now, jobs, job_grace: sweep_after, expected_relations: new Map() };
  await transaction.commit(commitStatement(record));
  return { ...attachment, jobs };
}

/** Splits the bytes into small pieces, so that patterns cross their borders. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.byteLength; start += 50) yield bytes.subarray(start, start + 50);
}

async function listPendingJobs(core: Core, id: string): Promise<number> {
  const text = 'select * from outbox where job = $1 and subject_id = $2';
  return (await core.database.query({ text }, [attachmentScanning.name, id])).length;
}

/** The state of an attachment after its jobs have finished. */
async function outcome(core: Core, { id, storage_key }: { id: string; storage_key: string }) {
  await vi.waitFor(async () => expect(await listPendingJobs(core, id)).toBe(0), waitOptions);
  const row = await core.db.attachments.find(id);
  const kept = await core.blobs.read(storage_key).then(
    (stream) => Boolean(stream.destroy()),
    (error: unknown) => {
      if (error instanceof BlobMissing) return false;
      throw error;
    },
  );
  return { scan_status: row?.scan_status, scanned_by: row?.scanned_by, kept };
}

const text = Buffer.from('an agent wrote this\n'.repeat(500));
const clean = { scan_status: 'clean', scanned_by: 'zip-check', kept: true };
const infected = { scan_status: 'infected', scanned_by: 'zip-check', kept: false };
const failed = { scan_status: 'failed', scanned_by: 'zip-check', kept: true };
const gone = { scan_status: 'failed', scanned_by: null, kept: false };

const cases: [string, Upload, object][] = [
  ['clean bytes', { bytes: text }, clean],
  ['an archive with a false size', { bytes: zipBomb }, infected],
  ['the same after other bytes', { bytes: Buffer.concat([text.subarray(0, 777), zipBomb]) }, infected],
  ['another digest', { bytes: text, sha256: '0'.repeat(64) }, failed],
  ['fewer bytes than recorded', { bytes: text, size_bytes: text.byteLength + 1 }, failed],
  ['more bytes than recorded', { bytes: text, size_bytes: text.byteLength - 1 }, failed],
  ['no bytes at all', { bytes: null }, gone],
];

/** A process that is killed after this many steps: later steps never happen. */
function killedAfter(core: Core, steps: number): { core: Core; killed(): boolean } {
  let left = steps;
  const dying = <Values extends unknown[], T>(step: (...values: Values) => Promise<T>) => {
    return async (...values: Values): Promise<T> => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return step(...values);
    };
  };
  const { blobs, scanner, db, unitOfWork } = core;
  const { attachments, outbox } = db;
  return {
    killed: () => left < 0,
    core: {
      ...core,
      blobs: { ...blobs, read: dying(blobs.read), remove: dying(blobs.remove) },
      scanner: { scan: dying(scanner.scan) },
      unitOfWork: { ...unitOfWork, write: dying(unitOfWork.write) },
      db: override(db, {
        attachments: { ...attachments, find: dying(attachments.find) },
        outbox: { ...outbox, complete: dying(outbox.complete) },
      }),
    },
  };
}

describe.each(backends)('attachment scanning on %s', (backend) => {
  let service: TestService;
  let uploaderId: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ams-attachments-'));
    service = await startService({ backend, env: { DATA_DIR: folder, LOG_LEVEL: 'silent' } });
    uploaderId = (await service.agent()).id;
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  test.concurrent.each(cases)('%s', async (_, what, expected) => {
    const attachment = await upload(service.core, uploaderId, what);
    await service.core.queues.enqueue(packJobs(attachment.jobs));
    expect(await outcome(service.core, attachment)).toEqual(expected);
  });

  test('the sweep finds an upload whose job never reached the worker', async () => {
    const attachment = await upload(service.core, uploaderId, { bytes: zipBomb, sweep_after: 0 });
    expect(await outcome(service.core, attachment)).toEqual(infected);
  });

  test('a store that is unavailable rejects nothing: the scan waits until it is back', async () => {
    const attachment = await upload(service.core, uploaderId, { bytes: text });
    const [place, elsewhere] = [join(folder, 'blobs'), join(folder, 'not-mounted')];
    await rename(place, elsewhere);
    await service.core.queues.enqueue(packJobs(attachment.jobs));
    await vi.waitFor(async () => {
      const depths = await service.core.queues.depths();
      expect(depths.find(({ queue }) => queue === 'attachment-scanning')?.delayed).toBe(1);
    }, waitOptions);
    expect((await service.core.db.attachments.find(attachment.id))?.scan_status).toBe('pending');
    await rename(elsewhere, place);
    expect(await outcome(service.core, attachment)).toEqual(clean);
  });

  // The rest calls the handler directly, without a queue.
  if (backend !== 'postgres') return;

  test.concurrent.each(cases)(
    '%s, by a worker that is killed after any of its steps',
    async (_, what, expected) => {
      for (let steps = 0, killed = true; killed; steps += 1) {
        const { id, storage_key } = await upload(service.core, uploaderId, what);
        const short = killedAfter(service.core, steps);
        const run = attachmentScanningHandler(short.core).handle({ ids: [id] });
        await run.catch((error: unknown) => expect(error).toBeInstanceOf(AggregateError));
        killed = short.killed();
        expect(await listPendingJobs(service.core, id)).toBe(killed ? 1 : 0);
        await attachmentScanningHandler(service.core).handle({ ids: [id] });
        expect(await outcome(service.core, { id, storage_key })).toEqual(expected);
      }
    },
  );

  test.concurrent.each(cases)('%s, by five workers concurrently', async (_, what, expected) => {
    const { id, storage_key } = await upload(service.core, uploaderId, what);
    const runs = Array.from({ length: 5 }, () =>
      attachmentScanningHandler(service.core).handle({ ids: [id] }),
    );
    await Promise.all(runs);
    expect(await outcome(service.core, { id, storage_key })).toEqual(expected);
  });

  test('the first result is final, whatever a later scan finds', async () => {
    const { id, storage_key } = await upload(service.core, uploaderId, { bytes: text });
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    await service.core.blobs.remove(storage_key);
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    await service.core.db.attachments.setScan(id, { scan_status: 'failed', scanned_by: null });
    expect(await outcome(service.core, { id, storage_key })).toEqual({ ...clean, kept: false });
  });

  test('an unreadable attachment does not delay others and stays pending', async () => {
    const { core } = service;
    const [stuck, good] = [
      await upload(core, uploaderId, { bytes: text }),
      await upload(core, uploaderId, { bytes: text }),
    ];
    const read = async (key: string) => {
      if (key === stuck.storage_key) throw new Error('the disk does not answer');
      return core.blobs.read(key);
    };
    const handler = attachmentScanningHandler({ ...core, blobs: { ...core.blobs, read } });
    const ids = [stuck.id, newId('attachment'), good.id];
    await expect(handler.handle({ ids })).rejects.toThrow('1 of 3 uploads not scanned');
    expect(await outcome(core, good)).toEqual(clean);
    expect(await listPendingJobs(core, stuck.id)).toBe(1);
    expect((await core.db.attachments.find(stuck.id))?.scan_status).toBe('pending');
  });
});
