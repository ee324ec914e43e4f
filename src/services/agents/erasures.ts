import { addCounts, type Counts } from '../../domain/agents/counts.ts';
import { erasureJob, type ErasureStage } from '../../domain/agents/erasure-and-export.ts';
import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { retire } from './retire.ts';

/** An erasure on its way or at its end, as it is stored. Times in milliseconds. */
export type Erasure = NonNullable<Awaited<ReturnType<SystemWork['erasures']['find']>>>;

const messagesPerStep = 5_000;
const feedEntriesPerStep = 2_000;
const filesPerStep = 100;

/**
 * Begins to erase an agent: retires it at once, so that nothing new comes, and owes the job that does the rest. One that is under
 * way goes on; after its end another one may be begun, as after a restore.
 * @param account_id the person who wants it; null for an operator.
 */
export async function beginErasure(
  work: SystemWork,
  agent: { id: string; canonical_handle: string; retired: boolean },
  account_id: string | null,
): Promise<Erasure> {
  const { id: agent_id, canonical_handle: handle } = agent;
  if (!agent.retired) await retire(work, agent);
  await work.erasures.insert({ id: newId('erasure'), agent_id, handle, account_id, created_at: work.now });
  const erasure = await work.erasures.findLast(agent_id);
  if (!erasure) throw new Error('an erasure was not kept');
  work.audit({ act: 'agent.erasure_begun', agent_id });
  work.enqueue({ job: erasureJob, subject_id: erasure.id });
  return erasure;
}

/**
 * One step of an erasure: what it takes out and how far it is are one transaction, so that a worker that is killed leaves only
 * the rest to do, and every row is counted once. Bytes go after the rows that name them: the caller has removed those that lie at
 * `removed` since the step before. Two workers at one erasure wait for each other.
 * @returns the erasure as it is after the step; undefined when there is none of this id.
 */
export async function runErasureStep(
  work: SystemWork,
  id: string,
  removed: readonly string[],
): Promise<Erasure | undefined> {
  const erasure = await work.erasures.lock(id);
  if (!erasure || erasure.stage === 'done') return erasure;
  const doomed_keys = erasure.doomed_keys.filter((key) => !removed.includes(key));
  const { counts = {}, ...news } = await steps[erasure.stage](work, { ...erasure, doomed_keys });
  const next: Erasure = {
    ...erasure,
    doomed_keys,
    ...news,
    counts: addCounts(erasure.counts, counts),
    updated_at: work.now,
  };
  await work.erasures.update(next);
  if (next.done_at !== null)
    work.audit({ act: 'agent.erased', agent_id: next.agent_id, detail: { ...next.counts } });
  return next;
}

/** What a step changes of the erasure; counts are those of this step. */
type ErasureUpdate = Partial<
  Pick<Erasure, 'stage' | 'looked_after' | 'examined' | 'doomed_keys' | 'done_at'>
> & {
  counts?: Counts;
};

type Step = (work: SystemWork, erasure: Erasure) => Promise<ErasureUpdate>;

const steps: Record<Exclude<ErasureStage, 'done'>, Step> = {
  belongings: eraseBelongings,
  feed: eraseFeed,
  messages: eraseMessages,
  files: eraseFiles,
};

/** With what was gathered of it for those who wanted it exported. */
async function eraseBelongings(
  { erasure, agentExports, now }: SystemWork,
  { agent_id, doomed_keys }: Erasure,
): Promise<ErasureUpdate> {
  const counts = await erasure.removeOwnedRows(agent_id);
  await erasure.clearCard(agent_id, now);
  const keys = await agentExports.removeOfAgent(agent_id);
  return { counts, doomed_keys: [...doomed_keys, ...keys], stage: 'feed' };
}

async function eraseFeed({ erasure }: SystemWork, { agent_id }: Erasure): Promise<ErasureUpdate> {
  const feed_lines = await erasure.removeFeedEntries(agent_id, feedEntriesPerStep);
  return { counts: { feed_lines }, ...(feed_lines < feedEntriesPerStep && { stage: 'messages' }) };
}

async function eraseMessages(
  { erasure: tables }: SystemWork,
  { agent_id, looked_after, examined }: Erasure,
): Promise<ErasureUpdate> {
  const found = await tables.scanMessages(agent_id, looked_after, messagesPerStep);
  const erased = found.mine.length === 0 ? 0 : await tables.clearMessages(found.mine);
  return {
    counts: { messages: erased },
    looked_after: found.after,
    examined: examined + found.examined,
    ...(found.examined < messagesPerStep && { stage: 'files' }),
  };
}

/** It is over when a step finds nothing more, neither rows nor bytes. */
async function eraseFiles(
  { erasure: tables, now }: SystemWork,
  { agent_id, doomed_keys }: Erasure,
): Promise<ErasureUpdate> {
  const unfinished = await tables.removeUploads(agent_id);
  const keys = [...unfinished, ...(await tables.removeFiles(agent_id, filesPerStep))];
  const doomed = [...doomed_keys, ...keys];
  const over = doomed.length === 0 && { stage: 'done' as const, done_at: now };
  return { counts: { files: keys.length }, doomed_keys: doomed, ...over };
}

/** The last erasure of an agent. @throws {DomainError} NOT_FOUND when nobody wanted one */
export async function lastErasure(
  { erasures }: Pick<SystemWork, 'erasures'>,
  agent: { id: string; canonical_handle: string },
): Promise<Erasure> {
  const erasure = await erasures.findLast(agent.id);
  if (!erasure) throw new DomainError('NOT_FOUND', `Nobody has erased ${agent.canonical_handle}.`);
  return erasure;
}

/** What a person wanted erased, newest first, at most `limit`, before the id `before`. */
export function listErasures(
  { erasures }: Pick<SystemWork, 'erasures'>,
  account_id: string,
  { before = '', limit }: { before?: string; limit: number },
): Promise<Erasure[]> {
  return erasures.list(account_id, before, limit);
}

/** @throws {DomainError} INVALID_TRANSITION unless the operator repeats the handle: what is erased does not come back. */
export function requireConfirmed(handle: string, repeated_handle: string): void {
  if (handle === repeated_handle) return;
  throw new DomainError('INVALID_TRANSITION', `To erase it for good, repeat its handle: --confirm ${handle}`);
}
