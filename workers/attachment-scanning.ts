import type { Core } from '../src/compose.ts';
import { attachmentScanning } from '../src/jobs/attachment-scanning.ts';
import { BlobMissing, type ByteRange } from '../src/platform/blobs/store.ts';
import { type ScanResult, ScannerUnavailable, type Verdict } from '../src/platform/scanning/scanner.ts';
import { recordScanResult } from '../src/services/attachments/scan-results.ts';
import type { JobHandler } from './consume-queues.ts';
import { raceWithStop } from './stoppable.ts';

type Upload = { id: string; storage_key: string; size_bytes: number; sha256: string };
type Outcome = ScanResult | (Verdict & { scanned_by: null });

/** How long a scan is tried again while no scanner can judge, in milliseconds from the first try. */
const scanTimeoutMs = 3_600_000;

/**
 * Marks uploads clean, infected or failed, and removes the bytes of infected ones. One after the other, and each is settled
 * by itself: a fault holds up no other, and a run that was killed leaves only the rest to do.
 * @param options `stop` leaves the rest to another worker at once, with its reason.
 */
export function attachmentScanningHandler(
  core: Core,
  { patience = scanTimeoutMs, stop = new AbortController().signal } = {},
): JobHandler<{ ids: string[] }> {
  const { repositories, blobs, scanner, logger, metrics, unitOfWork } = core;
  const { attachments, outbox } = repositories;

  /**
   * The bytes stand in the store before their row is committed: a blob that is missing is gone for good. A scanner that is away or
   * takes no such file is asked again, by the queue and then by the sweep, but not for ever.
   */
  async function examine(upload: Upload): Promise<Outcome> {
    const { storage_key, size_bytes, sha256 } = upload;
    try {
      const file = { size_bytes, sha256, read: (range?: ByteRange) => blobs.read(storage_key, range) };
      return await raceWithStop(stop, () => scanner.scan(file));
    } catch (error) {
      stop.throwIfAborted();
      if (error instanceof BlobMissing) {
        return { status: 'failed', reason: 'its bytes are gone', scanned_by: null };
      }
      if (!(error instanceof ScannerUnavailable)) throw error;
      metrics.scans.inc({ outcome: 'away' });
      const now = Date.now();
      const since = (await attachments.recordScanTrouble(upload.id, now)) ?? now;
      if (now - since < patience) throw error;
      return { status: 'failed', reason: error.message, scanned_by: null };
    }
  }

  async function scan(upload: Upload): Promise<void> {
    const { status, scanned_by, ...why } = await examine(upload);
    metrics.scans.inc({ outcome: status });
    if (status !== 'clean') logger.warn({ attachment: upload.id, status, ...why }, 'an upload is not clean');
    await unitOfWork.writeAsSystem((work) =>
      recordScanResult(work, upload.id, { scan_status: status, scanned_by }),
    );
  }

  /** The status is written before the bytes go and decides that they go, so the next run makes good one that ended in between. */
  async function settle(id: string): Promise<void> {
    const found = await attachments.find(id);
    if (found?.scan_status === 'pending') await scan(found);
    const judged = await attachments.find(id);
    if (judged?.scan_status === 'infected') await blobs.remove(judged.storage_key);
    await outbox.complete(attachmentScanning.name, [id]);
  }

  async function handle({ ids }: { ids: string[] }): Promise<void> {
    const faults: unknown[] = [];
    for (const id of ids) {
      stop.throwIfAborted();
      await settle(id).catch((error: unknown) => faults.push(error));
    }
    if (faults.length > 0) stop.throwIfAborted();
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} of ${ids.length} not scanned`);
  }

  return { contract: attachmentScanning, handle };
}
