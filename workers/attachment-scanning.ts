import { system } from '../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../src/compose.ts';
import { attachmentScanning } from '../src/jobs/outbox-jobs.ts';
import { BlobMissing, type ByteRange } from '../src/platform/blobs/store.ts';
import { type ScanResult, ScannerUnavailable, type Verdict } from '../src/platform/scanning/scanner.ts';
import { recordScanResult } from '../src/services/attachments/scan-results.ts';
import type { JobHandler } from './consume-queues.ts';
import { raceWithStop } from './stoppable.ts';

type Upload = { id: string; storage_key: string; size_bytes: number; sha256: string };
type Outcome = ScanResult | (Verdict & { scanned_by: null });

/** Time from the first attempt for which a scan is retried while no scanner is available. */
const scanTimeoutMs = 3_600_000;

/**
 * Returns the handler that marks uploads as clean, infected or failed, and removes the bytes of infected ones. Each upload is completed
 * separately: an error does not affect the others, and a killed job loses no results.
 * @param options `stop` aborts at once with its reason and leaves the remaining uploads to another worker.
 */
export function attachmentScanningHandler(
  core: Core,
  { timeoutMs = scanTimeoutMs, stop = new AbortController().signal } = {},
): JobHandler<{ ids: string[] }> {
  const { db, blobs, scanner, logger, metrics, unitOfWork } = core;
  const { attachments, outbox } = db;

  /**
   * Bytes are stored before their row is committed, so a missing blob is lost. If no scanner is available, the queue and then the sweep
   * retry until the timeout.
   */
  async function runScanner(upload: Upload): Promise<Outcome> {
    const { storage_key, size_bytes, sha256 } = upload;
    try {
      const file = { size_bytes, sha256, read: (range?: ByteRange) => blobs.read(storage_key, range) };
      return await raceWithStop(stop, () => scanner.scan(file));
    } catch (error) {
      stop.throwIfAborted();
      if (error instanceof BlobMissing) {
        return { status: 'failed', reason: 'its bytes are missing', scanned_by: null };
      }
      if (!(error instanceof ScannerUnavailable)) throw error;
      metrics.scans.inc({ outcome: 'away' });
      const now = Date.now();
      const since = (await attachments.recordScanTrouble(upload.id, now)) ?? now;
      if (now - since < timeoutMs) throw error;
      return { status: 'failed', reason: error.message, scanned_by: null };
    }
  }

  async function scan(upload: Upload): Promise<void> {
    const { status, scanned_by, ...details } = await runScanner(upload);
    metrics.scans.inc({ outcome: status });
    if (status !== 'clean') logger.warn({ attachment: upload.id, status, ...details }, 'upload is not clean');
    await unitOfWork.write(system, (work) =>
      recordScanResult(work, upload.id, { scan_status: status, scanned_by }),
    );
  }

  /** The status is stored before the bytes are removed, so that a repeated job completes an interrupted removal. */
  async function complete(id: string): Promise<void> {
    const before = await attachments.find(id);
    if (before?.scan_status === 'pending') await scan(before);
    const scanned = await attachments.find(id);
    if (scanned?.scan_status === 'infected') await blobs.remove(scanned.storage_key);
    await outbox.complete(attachmentScanning.name, [id]);
  }

  async function handle({ ids }: { ids: string[] }): Promise<void> {
    const errors: unknown[] = [];
    for (const id of ids) {
      stop.throwIfAborted();
      await complete(id).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) stop.throwIfAborted();
    if (errors.length > 0)
      throw new AggregateError(errors, `${errors.length} of ${ids.length} uploads not scanned`);
  }

  return { contract: attachmentScanning, handle };
}
