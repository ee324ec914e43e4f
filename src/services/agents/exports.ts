import type { AgentExportRow } from '../../repositories/agents/exports.ts';
import { downloadLifetimeMs } from '../../../packages/core/src/domain/attachments/attachments.ts';
import {
  addCounts,
  archiveName,
  exportJob,
} from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';

/** An export as it is stored, in progress or done. Times in milliseconds. */
export type AgentExport = AgentExportRow;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Begins to export the data of an agent: enqueues the job. If the same person has an export in progress, it continues; a finished one
 * is replaced.
 * @param request `account_id` is null for an operator; `days` is how long the archive is kept.
 * @throws {DomainError} INVALID_TRANSITION while the agent is being erased
 */
export async function beginExport(
  work: SystemWork,
  { id: agent_id, canonical_handle: handle }: { id: string; canonical_handle: string },
  { account_id, days }: { account_id: string | null; days: number },
): Promise<AgentExport> {
  const erasure = await work.db.erasures.findLast(agent_id);
  if (erasure?.done_at === null) {
    throw new DomainError('INVALID_TRANSITION', `${handle} is being erased and cannot be exported.`);
  }
  const { now } = work;
  const id = newId('export');
  const expires_at = now + days * dayMs;
  if (await work.db.agentExports.insert({ id, agent_id, handle, account_id, created_at: now, expires_at })) {
    await work.db.agentExports.expire(agent_id, account_id, id, now);
    work.changes.audit({ act: 'agent.export_begun', agent_id });
    // That of an export in progress is still in the outbox.
    work.changes.enqueue({ job: exportJob, subject_id: id });
  }
  const current = await work.db.agentExports.findLast(agent_id, account_id);
  if (!current) throw new Error('the export was not inserted');
  return current;
}

/** The result of one export step: the blob with its data, and the progress of the export. */
export type GatheredPart = Pick<AgentExport, 'stage' | 'belonging' | 'thread_id' | 'sequence' | 'counts'> & {
  /** Key of the blob; null if the step found nothing. */
  key: string | null;
};

/**
 * Records a part of an export. Of two workers that run the same step, the later one gets false.
 * @param before the export when the step began.
 * @returns false if another worker has done this step, or the export no longer exists.
 */
export function savePart(
  work: SystemWork,
  before: AgentExport,
  { key, ...update }: GatheredPart,
): Promise<boolean> {
  const { part_keys } = before;
  return advance(work, before, { ...update, part_keys: key === null ? part_keys : [...part_keys, key] });
}

/** A complete archive, with the files that could not be included. */
export type FinishedArchive = Pick<AgentExport, 'counts' | 'missing_files'> & {
  archive_key: string;
  size_bytes: number;
  sha256: string;
};

/**
 * Completes an export with its archive. The blobs of its parts become orphans, which maintenance removes.
 * @param days how long the archive is kept from now on.
 * @returns false as savePart does.
 */
export async function finishExport(
  work: SystemWork,
  before: AgentExport,
  archive: FinishedArchive,
  days: number,
): Promise<boolean> {
  const { now } = work;
  const end = { stage: 'done' as const, part_keys: [], done_at: now, expires_at: now + days * dayMs };
  const advanced = await advance(work, before, { ...archive, ...end });
  const { agent_id, id: about } = before;
  if (advanced)
    work.changes.audit({
      act: 'agent.exported',
      agent_id,
      about,
      detail: { size_bytes: archive.size_bytes },
    });
  return advanced;
}

/** The changes of one step; `counts` are those of this step. */
type ExportUpdate = Partial<AgentExport> & Pick<AgentExport, 'counts'>;

/** Stores the changes of a step unless the export has changed since `before`. @returns whether they were stored */
async function advance(
  { db: { agentExports }, now }: SystemWork,
  before: AgentExport,
  { counts, ...changes }: ExportUpdate,
): Promise<boolean> {
  const found = await agentExports.lock(before.id);
  if (!found || !isUnchanged(found, before)) return false;
  await agentExports.update({
    ...found,
    ...changes,
    counts: addCounts(found.counts, counts),
    updated_at: now,
  });
  return true;
}

function isUnchanged(found: AgentExport, before: AgentExport): boolean {
  const { stage, thread_id, sequence, part_keys } = before;
  return (
    found.stage === stage &&
    found.thread_id === thread_id &&
    found.sequence === sequence &&
    found.part_keys.length === part_keys.length
  );
}

/** Returns the exports that a person requested and can download, newest first, at most `limit`, from before the id `before`. */
export function listExports(
  { db: { agentExports } }: ReadWork,
  account_id: string,
  { before = '', limit }: { before?: string; limit: number },
): Promise<AgentExport[]> {
  return agentExports.listOfPerson(account_id, { before, now: Date.now(), limit });
}

/**
 * Returns a signed URL for the archive of a person's own export. It expires after five minutes.
 * @throws {DomainError} NOT_FOUND if there is none, it is not complete, or the person has no access to the agent (any more)
 */
export async function signArchiveUrl(
  { db: { agentExports }, changes: { audit }, settings, now }: SystemWork,
  account_id: string,
  id: string,
): Promise<string> {
  const { agent_id, ...found } = requireFinished(await agentExports.findOfPerson(account_id, id, now));
  audit({ act: 'agent.export_fetched', agent_id, about: found.id });
  const { archive_key: key, size_bytes } = found;
  const filename = archiveName(found.handle, found.created_at);
  return settings.addresses.download(
    { key, filename, content_type: 'application/zip', size_bytes },
    now + downloadLifetimeMs,
  );
}

/**
 * Returns a complete export of this agent, for an operator.
 * @throws {DomainError} NOT_FOUND if the id is unknown, or the export is incomplete or expired
 */
export async function fetchExport(
  { db: { agentExports }, changes: { audit }, now }: SystemWork,
  agent: { id: string },
  id: string,
) {
  const found = await agentExports.find(id);
  const isCurrent = found && found.agent_id === agent.id && found.expires_at > now;
  const finished = requireFinished(isCurrent ? found : undefined);
  audit({ act: 'agent.export_fetched', agent_id: finished.agent_id, about: finished.id });
  return finished;
}

function requireFinished(found: AgentExport | undefined) {
  if (!found) throw new DomainError('NOT_FOUND', 'No such export.');
  const { archive_key, size_bytes, sha256, ...rest } = found;
  if (archive_key === null || size_bytes === null || sha256 === null) {
    throw new DomainError('NOT_FOUND', 'This export is not complete yet. Try again later.');
  }
  return { ...rest, archive_key, size_bytes, sha256 };
}
