import type { ErasureRow } from '../../repositories/agents/erasures.ts';
import {
  addCounts,
  type Counts,
  erasureJob,
  type ErasureStage,
} from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { retire } from './retire.ts';

/** An erasure as it is stored, in progress or done. Times in milliseconds. */
export type Erasure = ErasureRow;

const messagesPerStep = 5_000;
const feedEntriesPerStep = 2_000;
const filesPerStep = 100;

/**
 * Begins to erase an agent: retires it at once, so that it gets no new data, and enqueues the job that does the rest. If an erasure
 * is in progress, it continues. After a finished erasure a new one can begin, for example when a database was restored.
 * @param account_id the person who requested it; null for an operator.
 */
export async function beginErasure(
  work: SystemWork,
  agent: { id: string; canonical_handle: string; retired: boolean },
  account_id: string | null,
): Promise<Erasure> {
  const { id: agent_id, canonical_handle: handle } = agent;
  if (!agent.retired) await retire(work, agent);
  await work.db.erasures.insert({ id: newId('erasure'), agent_id, handle, account_id, created_at: work.now });
  const erasure = await work.db.erasures.findLast(agent_id);
  if (!erasure) throw new Error('the erasure was not inserted');
  work.changes.audit({ act: 'agent.erasure_begun', agent_id });
  work.changes.enqueue({ job: erasureJob, subject_id: erasure.id });
  return erasure;
}

/**
 * Runs one step of an erasure. The rows it removes and its progress are one transaction: a killed worker loses nothing, and every row
 * is counted once. Blobs are removed after their rows. The row lock serializes workers on the same erasure.
 * @param removed the keys of blobs that the caller removed since the previous step.
 * @returns the erasure after the step; undefined if the id is unknown.
 */
export async function runErasureStep(
  work: SystemWork,
  id: string,
  removed: readonly string[],
): Promise<Erasure | undefined> {
  const erasure = await work.db.erasures.lock(id);
  if (!erasure || erasure.stage === 'done') return erasure;
  const doomed_keys = erasure.doomed_keys.filter((key) => !removed.includes(key));
  const { counts = {}, ...changes } = await runStage[erasure.stage](work, { ...erasure, doomed_keys });
  const next: Erasure = {
    ...erasure,
    doomed_keys,
    ...changes,
    counts: addCounts(erasure.counts, counts),
    updated_at: work.now,
  };
  await work.db.erasures.update(next);
  if (next.done_at !== null)
    work.changes.audit({ act: 'agent.erased', agent_id: next.agent_id, detail: { ...next.counts } });
  return next;
}

/** The changes of one step; `counts` are those of this step. */
type ErasureUpdate = Partial<
  Pick<Erasure, 'stage' | 'looked_after' | 'examined' | 'doomed_keys' | 'done_at'>
> & {
  counts?: Counts;
};

type Step = (work: SystemWork, erasure: Erasure) => Promise<ErasureUpdate>;

const runStage: Record<Exclude<ErasureStage, 'done'>, Step> = {
  belongings: eraseBelongings,
  feed: eraseFeed,
  messages: eraseMessages,
  files: eraseFiles,
};

/** Also removes the agent's exports. */
async function eraseBelongings(
  { db: { erasure, agentExports }, now }: SystemWork,
  { agent_id, doomed_keys }: Erasure,
): Promise<ErasureUpdate> {
  const counts = await erasure.removeOwnedRows(agent_id);
  await erasure.clearCard(agent_id, now);
  const keys = await agentExports.removeOfAgent(agent_id);
  return { counts, doomed_keys: [...doomed_keys, ...keys.flat()], stage: 'feed' };
}

async function eraseFeed({ db: { erasure } }: SystemWork, { agent_id }: Erasure): Promise<ErasureUpdate> {
  const feed_lines = await erasure.removeFeedEntries(agent_id, feedEntriesPerStep);
  return { counts: { feed_lines }, ...(feed_lines < feedEntriesPerStep && { stage: 'messages' }) };
}

async function eraseMessages(
  { db: { erasure: tables, messageSearch } }: SystemWork,
  { agent_id, looked_after, examined }: Erasure,
): Promise<ErasureUpdate> {
  const found = await tables.scanMessages(agent_id, looked_after, messagesPerStep);
  const erased = found.mine.length === 0 ? 0 : await tables.clearMessages(found.mine);
  if (found.mine.length > 0) await messageSearch.remove(found.mine);
  return {
    counts: { messages: erased },
    looked_after: found.after,
    examined: examined + found.examined,
    ...(found.examined < messagesPerStep && { stage: 'files' }),
  };
}

/** The erasure is done when a step finds neither rows nor blobs. It also removes search rows that an index run has written meanwhile. */
async function eraseFiles(
  { db: { erasure: tables, messageSearch }, now }: SystemWork,
  { agent_id, doomed_keys }: Erasure,
): Promise<ErasureUpdate> {
  const unfinished = await tables.removeUploads(agent_id);
  const keys = [...unfinished, ...(await tables.removeFiles(agent_id, filesPerStep))];
  const remaining = [...doomed_keys, ...keys];
  const update = { counts: { files: keys.length }, doomed_keys: remaining };
  if (remaining.length > 0) return update;
  await messageSearch.removeOfSender(agent_id);
  return { ...update, stage: 'done', done_at: now };
}

/** Returns the last erasure of an agent. @throws {DomainError} NOT_FOUND if there is none */
export async function lastErasure(
  { db: { erasures } }: ReadWork,
  agent: { id: string; canonical_handle: string },
): Promise<Erasure> {
  const erasure = await erasures.findLast(agent.id);
  if (!erasure) throw new DomainError('NOT_FOUND', `There is no erasure of ${agent.canonical_handle}.`);
  return erasure;
}

/** Returns the erasures that a person requested, newest first, at most `limit`, from before the id `before`. */
export function listErasures(
  { db: { erasures } }: ReadWork,
  account_id: string,
  { before = '', limit }: { before?: string; limit: number },
): Promise<Erasure[]> {
  return erasures.list(account_id, before, limit);
}

/** @throws {DomainError} INVALID_TRANSITION unless the operator repeats the handle, because an erasure cannot be undone */
export function requireConfirmed(handle: string, repeated_handle: string): void {
  if (handle === repeated_handle) return;
  throw new DomainError(
    'INVALID_TRANSITION',
    `Erasure is permanent. To confirm, repeat the handle: --confirm ${handle}`,
  );
}
