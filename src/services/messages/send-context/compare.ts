import type { LockedThread, WriterAudience } from '../../../repositories/messages/batches.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { toKey } from '../../../work/send-context.ts';
import { requireActorState, requirePoliciesAllow } from '../../actor-checks.ts';
import { toPairKey } from '../thread-progress.ts';
import type { ReadBatch } from './read.ts';
import type { CachedThread } from './thread-cache.ts';

/** Whether a transaction that relied on these threads would not have failed. */
export function isCurrent(
  reserved: readonly CachedThread[],
  batch: ReadBatch,
  versions: ReadonlyMap<string, number>,
): boolean {
  const stored = new Map(batch.threads.map(({ thread }) => [thread.id, thread]));
  return reserved.every(({ thread, audiences }) => {
    const now = stored.get(thread.id);
    const isUnchanged =
      now?.status === 'active' &&
      now.last_sequence === thread.last_sequence &&
      now.updated_at === thread.updated_at;
    return (
      isUnchanged &&
      [...audiences.values()].every(({ member_ids, relation_versions }) =>
        member_ids.every((id, at) => versions.get(id) === relation_versions[at]),
      )
    );
  });
}

/** The log message of a process that finds one. */
export const differenceMessage = 'the cached context of a send differs from the database';

/** Lists what differs between current cached threads and the database. A change that only permits messages is none: a refusal leads to reads. */
export function findDifferences(reserved: readonly CachedThread[], batch: ReadBatch): string[] {
  return reserved.flatMap(({ thread, audiences, exchanges }) => {
    const stored = batch.threads.find((other) => other.thread.id === thread.id);
    const pairs = new Map(stored?.exchanges.map((exchange) => [toPairKey(exchange), exchange]));
    const found = [
      ...fields.filter((field) => stored?.thread[field] !== thread[field]),
      ...exchanges.flatMap((cached) => {
        const pair = pairs.get(toPairKey(cached)) ?? cached;
        return pair.exchanges === cached.exchanges && pair.since === cached.since ? [] : ['exchanges'];
      }),
      ...[...audiences.values()].flatMap((cached) => {
        const audience = batch.audiences.get(toKey(thread.id, cached.agent_id));
        return audience ? compareAudiences(thread, cached, audience) : [];
      }),
    ];
    return found.map((what) => `${thread.id}: ${what}`);
  });
}

const fields = ['created_by', 'last_message_at', 'last_sender_id', 'has_questions'] as const;

function compareAudiences(thread: LockedThread, cached: WriterAudience, stored: WriterAudience): string[] {
  const isSame = cached.member_ids.toSorted().join() === stored.member_ids.toSorted().join();
  const isRefusedNow = isAccepted(thread, cached) && !isAccepted(thread, stored);
  return [...(isSame ? [] : ['member_ids']), ...(isRefusedNow ? [`messages of ${cached.agent_id}`] : [])];
}

function isAccepted(thread: LockedThread, audience: WriterAudience): boolean {
  try {
    requireActorState(audience);
    requirePoliciesAllow(thread, audience.listeners);
    return audience.joined;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
