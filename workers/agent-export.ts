import { system } from '../packages/core/src/domain/auth/audit.ts';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Core } from '../src/compose.ts';
import { agentExport } from '../src/jobs/outbox-jobs.ts';
import { BlobMissing } from '../src/platform/blobs/store.ts';
import { type ArchiveEntry, createZipArchive } from '../src/platform/archive.ts';
import { type AgentExport, finishExport, savePart } from '../src/services/agents/exports.ts';
import { listFilesOfAgent, readNextPart } from '../src/services/agents/export-records.ts';
import type { JobHandler } from './consume-queues.ts';

type StopCore = Core & { stop: AbortSignal };

/**
 * Returns the handler that exports agents' data: it stores one bounded part after the other, and then builds an archive of the parts
 * and the files. A blob is stored before it is recorded; if the worker is killed in between, maintenance removes the orphan and another
 * worker repeats the step.
 * @param stop aborts before the next part or within the archive, with its reason.
 */
export function agentExportHandler(core: Core, stop: AbortSignal): JobHandler<{ ids: string[] }> {
  const { db } = core;

  async function run(id: string): Promise<void> {
    for (;;) {
      stop.throwIfAborted();
      const found = await db.agentExports.find(id);
      if (!found || found.stage === 'done') break;
      await (found.stage === 'archive'
        ? storeArchive({ ...core, stop }, found)
        : storePart({ ...core, stop }, found));
    }
    await db.outbox.complete(agentExport.name, [id]);
  }

  return {
    contract: agentExport,
    async handle({ ids }) {
      for (const id of ids) await run(id);
    },
  };
}

/** Stores a blob and records its key; removes the blob if it was not recorded. Returns whether it was. */
async function storeBlob(
  { blobs, stop }: StopCore,
  bytes: AsyncIterable<Uint8Array>,
  record: (key: string) => Promise<boolean>,
): Promise<boolean> {
  const key = randomBytes(16).toString('hex');
  await blobs.write(key, bytes, stop);
  const isRecorded = await record(key);
  if (!isRecorded) await blobs.remove(key);
  return isRecorded;
}

async function storePart(core: StopCore, before: AgentExport): Promise<void> {
  const { unitOfWork } = core;
  const { text, counts, position } = await unitOfWork.read(system, (work) => readNextPart(work, before));
  const record = (key: string | null) =>
    unitOfWork.write(system, (work) => savePart(work, before, { ...position, counts, key }));
  if (text === '') await record(null);
  else await storeBlob(core, Readable.from([Buffer.from(text)]), record);
}

async function storeArchive(core: StopCore, before: AgentExport): Promise<void> {
  const { config, unitOfWork, blobs, logger, stop } = core;
  const missing_files: string[] = [];
  const hash = createHash('sha256');
  let size_bytes = 0;
  let files = 0;
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    yield { name: 'agent.jsonl', bytes: Readable.from(readParts(core, before)) };
    for await (const entry of readFiles(core, before, missing_files)) {
      files += 1;
      yield entry;
    }
  }
  async function* archive(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createZipArchive(entries(), new Date(before.created_at))) {
      stop.throwIfAborted();
      hash.update(chunk);
      size_bytes += chunk.byteLength;
      yield chunk;
    }
  }
  const isFinished = await storeBlob(core, archive(), (archive_key) => {
    const result = { archive_key, size_bytes, sha256: hash.digest('hex'), counts: { files }, missing_files };
    return unitOfWork.write(system, (work) =>
      finishExport(work, before, result, config.EXPORT_RETENTION_DAYS),
    );
  });
  if (!isFinished) return;
  for (const key of before.part_keys) await blobs.remove(key);
  logger.info({ export: before.id, size_bytes, missing: missing_files.length }, 'agent exported');
}

async function* readParts({ blobs }: Core, { part_keys }: AgentExport): AsyncGenerator<Uint8Array> {
  for (const key of part_keys) yield* await blobs.read(key);
}

/** Yields the files of the agent, and collects the ids of those whose bytes are missing. */
async function* readFiles(
  { db, blobs }: Core,
  { agent_id }: AgentExport,
  missing: string[],
): AsyncGenerator<ArchiveEntry> {
  for await (const { id, storage_key } of listFilesOfAgent({ db }, agent_id)) {
    const bytes = await blobs.read(storage_key).catch((error: unknown) => {
      if (!(error instanceof BlobMissing)) throw error;
      missing.push(id);
    });
    // Named by id, because file names come from users.
    if (bytes) yield { name: `attachments/${id}`, bytes };
  }
}
