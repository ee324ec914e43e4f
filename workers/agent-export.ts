import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Core } from '../src/compose.ts';
import { agentExport } from '../src/jobs/outbox-jobs.ts';
import { BlobMissing } from '../src/platform/blobs/store.ts';
import { type ArchiveEntry, createZipArchive } from '../src/platform/archive.ts';
import { type AgentExport, finishExport, savePart } from '../src/services/agents/exports.ts';
import { listFilesOfAgent, readNextPart } from '../src/services/agents/export-records.ts';
import type { JobHandler } from './consume-queues.ts';

/**
 * Gathers what is held of agents, one bounded part after the other, and makes one archive of the parts and the files. What is stored
 * before it is noted belongs to nothing: whoever is killed in between leaves it to the sweep of the store, and the step to the next one.
 * @param stop ends it before the next part, or in the middle of the archive, with its reason.
 */
export function agentExportHandler(core: Core, stop: AbortSignal): JobHandler<{ ids: string[] }> {
  const { config, repositories, unitOfWork, blobs, logger } = core;

  /** Stores bytes, has them noted, and takes them back when they are not wanted. */
  async function store(
    bytes: AsyncIterable<Uint8Array>,
    note: (key: string) => Promise<boolean>,
  ): Promise<boolean> {
    const key = randomBytes(16).toString('hex');
    await blobs.write(key, bytes, stop);
    const noted = await note(key);
    if (!noted) await blobs.remove(key);
    return noted;
  }

  async function gather(before: AgentExport): Promise<void> {
    const { text, counts, position } = await unitOfWork.readAsSystem((all) => readNextPart(all, before));
    const keep = (key: string | null) =>
      unitOfWork.writeAsSystem((work) => savePart(work, before, { ...position, counts, key }));
    if (text === '') await keep(null);
    else await store(Readable.from([Buffer.from(text)]), keep);
  }

  async function* linesOf({ part_keys }: AgentExport): AsyncGenerator<Uint8Array> {
    for (const key of part_keys) yield* await blobs.read(key);
  }

  async function* entriesOf(before: AgentExport, missing_files: string[]): AsyncGenerator<ArchiveEntry> {
    yield { name: 'agent.jsonl', bytes: Readable.from(linesOf(before)) };
    for await (const { id, storage_key } of listFilesOfAgent(repositories, before.agent_id)) {
      const bytes = await blobs.read(storage_key).catch((error: unknown) => {
        if (!(error instanceof BlobMissing)) throw error;
        missing_files.push(id);
      });
      // They lie under the ids: names are what somebody wrote.
      if (bytes) yield { name: `attachments/${id}`, bytes };
    }
  }

  async function archive(before: AgentExport): Promise<void> {
    const missing_files: string[] = [];
    const hash = createHash('sha256');
    let size_bytes = 0;
    let files = -1;
    async function* counted(): AsyncGenerator<ArchiveEntry> {
      for await (const entry of entriesOf(before, missing_files)) {
        files += 1;
        yield entry;
      }
    }
    async function* measured(): AsyncGenerator<Uint8Array> {
      for await (const chunk of createZipArchive(counted(), new Date(before.created_at))) {
        stop.throwIfAborted();
        hash.update(chunk);
        size_bytes += chunk.byteLength;
        yield chunk;
      }
    }
    const finished = await store(measured(), (archive_key) => {
      const whole = { archive_key, size_bytes, sha256: hash.digest('hex'), counts: { files }, missing_files };
      return unitOfWork.writeAsSystem((work) =>
        finishExport(work, before, whole, config.EXPORT_RETENTION_DAYS),
      );
    });
    if (!finished) return;
    for (const key of before.part_keys) await blobs.remove(key);
    logger.info({ export: before.id, size_bytes, missing: missing_files.length }, 'an agent is exported');
  }

  async function run(id: string): Promise<void> {
    for (;;) {
      stop.throwIfAborted();
      const found = await repositories.agentExports.find(id);
      if (!found || found.stage === 'done') break;
      await (found.stage === 'archive' ? archive(found) : gather(found));
    }
    await repositories.outbox.complete(agentExport.name, [id]);
  }

  return {
    contract: agentExport,
    async handle({ ids }) {
      for (const id of ids) await run(id);
    },
  };
}
