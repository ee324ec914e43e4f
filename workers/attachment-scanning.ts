import type { Core } from '../src/compose.ts';
import { attachmentScanning } from '../src/jobs/attachment-scanning.ts';
import { BlobMissing } from '../src/platform/blobs.ts';
import type { Verdict } from '../src/platform/scanner.ts';
import type { JobHandler } from './run.ts';

type Upload = { id: string; storage_key: string; size_bytes: number; sha256: string };

/**
 * Marks uploads clean, infected or failed, and removes the bytes of infected ones. One after the other, and each is settled
 * by itself: a fault holds up no other, and a run that was killed leaves only the rest to do.
 */
export function attachmentScanningHandler(core: Core): JobHandler<{ ids: string[] }> {
  const { repositories, blobs, scanner, logger } = core;
  const { attachments, outbox } = repositories;

  /** The bytes stand in the store before their row is committed: a blob that is missing is gone for good. */
  async function examine(upload: Upload): Promise<Verdict & { scanned_by: string | null }> {
    try {
      const bytes = await blobs.read(upload.storage_key);
      try {
        return { ...(await scanner.scan(bytes, upload)), scanned_by: scanner.name };
      } finally {
        bytes.destroy();
      }
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error;
      return { status: 'failed', reason: 'its bytes are gone', scanned_by: null };
    }
  }

  async function scan(upload: Upload): Promise<void> {
    const { status, scanned_by, ...why } = await examine(upload);
    if (status !== 'clean') logger.warn({ attachment: upload.id, status, ...why }, 'an upload is not clean');
    await attachments.setScan(upload.id, { scan_status: status, scanned_by });
  }

  /** The status is written before the bytes go and decides that they go, so the next run makes good one that ended in between. */
  async function judge(id: string): Promise<void> {
    const found = await attachments.find(id);
    if (found?.scan_status === 'pending') await scan(found);
    const judged = await attachments.find(id);
    if (judged?.scan_status === 'infected') await blobs.remove(judged.storage_key);
    await outbox.settle(attachmentScanning.name, [id]);
  }

  async function handle({ ids }: { ids: string[] }): Promise<void> {
    const faults: unknown[] = [];
    for (const id of ids) await judge(id).catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} of ${ids.length} not scanned`);
  }

  return { contract: attachmentScanning, handle };
}
