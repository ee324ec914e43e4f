import { downloadLifetimeMs, type FileAddresses } from '../../domain/attachments/attachments.ts';
import { addCounts } from '../../domain/agents/counts.ts';
import { DomainError } from '../../domain/errors.ts';
import { archiveName, exportJob } from '../../domain/agents/exports.ts';
import { newId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

/** An export on its way or at its end, as it is stored. Times in milliseconds. */
export type AgentExport = NonNullable<Awaited<ReturnType<SystemWork['agentExports']['find']>>>;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Begins to gather all that is held of an agent: owes the job that does it. One of the same person that is under way goes on, and one
 * that is done gives way to the new one.
 * @param wanted by whom, null for an operator; and for how many days it is kept.
 * @throws {DomainError} INVALID_TRANSITION while the agent is being erased.
 */
export async function beginExport(
  work: SystemWork,
  { id: agent_id, canonical_handle: handle }: { id: string; canonical_handle: string },
  { account_id, days }: { account_id: string | null; days: number },
): Promise<AgentExport> {
  const erasure = await work.erasures.findLast(agent_id);
  if (erasure?.done_at === null) {
    throw new DomainError('INVALID_TRANSITION', `${handle} is being erased.`);
  }
  const { now } = work;
  const id = newId('export');
  const expires_at = now + days * dayMs;
  if (await work.agentExports.insert({ id, agent_id, handle, account_id, created_at: now, expires_at })) {
    await work.agentExports.expire(agent_id, account_id, id, now);
    work.audit({ act: 'agent.export_begun', agent_id });
  }
  const begun = await work.agentExports.findLast(agent_id, account_id);
  if (!begun) throw new Error('an export was not kept');
  work.enqueue({ job: exportJob, subject_id: begun.id });
  return begun;
}

/** What a step has gathered, where it lies, and how far the export is with it. */
export type GatheredPart = Pick<AgentExport, 'stage' | 'thread_id' | 'sequence' | 'counts'> & {
  /** Null when there was nothing. */
  key: string | null;
};

/**
 * Notes a part. Of two workers at one step, the one that comes later is told so.
 * @param before the export as it was when the step began.
 * @returns false when the part is not wanted: another one has done this step, or the export is gone.
 */
export function savePart(
  work: SystemWork,
  before: AgentExport,
  { key, ...gathered }: GatheredPart,
): Promise<boolean> {
  const { part_keys } = before;
  return advance(work, before, { ...gathered, part_keys: key === null ? part_keys : [...part_keys, key] });
}

/** An archive that is whole, and what it could not hold. */
export type FinishedArchive = Pick<AgentExport, 'counts' | 'missing_files'> & {
  archive_key: string;
  size_bytes: number;
  sha256: string;
};

/**
 * Ends an export with its archive. The parts belong to nothing from then on.
 * @param days how long the archive is kept from now on.
 * @returns false as keepPart does.
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
    work.audit({ act: 'agent.exported', agent_id, about, detail: { size_bytes: archive.size_bytes } });
  return advanced;
}

/** What a step changes of the export; counts are those of this step. */
type ExportUpdate = Partial<AgentExport> & Pick<AgentExport, 'counts'>;

/** Stores what a step brought, unless the export has changed since it began. @returns whether it did. */
async function advance(
  { agentExports, now }: SystemWork,
  before: AgentExport,
  { counts, ...news }: ExportUpdate,
): Promise<boolean> {
  const found = await agentExports.lock(before.id);
  if (!found || !isUnchanged(found, before)) return false;
  await agentExports.update({ ...found, ...news, counts: addCounts(found.counts, counts), updated_at: now });
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

/** What a person had exported and may have, newest first, at most `limit`, before the id `before`. */
export function listExports(
  { agentExports }: Pick<SystemWork, 'agentExports'>,
  account_id: string,
  { before = '', limit }: { before?: string; limit: number },
): Promise<AgentExport[]> {
  return agentExports.listOfPerson(account_id, { before, now: Date.now(), limit });
}

/**
 * A signed address for the archive of a person's own export, good for five minutes.
 * @throws {DomainError} NOT_FOUND when there is none that is whole, or the person may not read what the agent said (any more).
 */
export async function signArchiveUrl(
  { agentExports, audit, now }: SystemWork,
  addresses: Pick<FileAddresses, 'download'>,
  account_id: string,
  id: string,
): Promise<string> {
  const { agent_id, ...found } = requireFinished(await agentExports.findOfPerson(account_id, id, now));
  audit({ act: 'agent.export_fetched', agent_id, about: found.id });
  const { archive_key: key, size_bytes } = found;
  const filename = archiveName(found.handle, found.created_at);
  return addresses.download(
    { key, filename, content_type: 'application/zip', size_bytes },
    now + downloadLifetimeMs,
  );
}

/**
 * An export of this agent, whose archive an operator fetches.
 * @throws {DomainError} NOT_FOUND when there is none of this id that is whole and not over.
 */
export async function fetchExport(
  { agentExports, audit, now }: SystemWork,
  agent: { id: string },
  id: string,
) {
  const found = await agentExports.find(id);
  const good = found && found.agent_id === agent.id && found.expires_at > now;
  const whole = requireFinished(good ? found : undefined);
  audit({ act: 'agent.export_fetched', agent_id: whole.agent_id, about: whole.id });
  return whole;
}

function requireFinished(found: AgentExport | undefined) {
  if (!found) throw new DomainError('NOT_FOUND', 'There is no such export.');
  const { archive_key, size_bytes, sha256, ...rest } = found;
  if (archive_key === null || size_bytes === null || sha256 === null) {
    throw new DomainError('NOT_FOUND', 'This export is not done yet.');
  }
  return { ...rest, archive_key, size_bytes, sha256 };
}
