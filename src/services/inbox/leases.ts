import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { handledTopic, inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { readFencingToken, toLeaseId } from './lease-ids.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import { returnTasks } from '../tasks/transitions.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type NewMessage, sendMessage } from '../messages/send.ts';
import { leaseLost, requireLeaseKey } from './access.ts';

/** A reply to the message of a lease. */
type Reply = Omit<NewMessage, 'thread_id'>;

/** What became of each lease of an acknowledgement. */
export type AcknowledgeResult = 'acknowledged' | 'lost' | 'not_found';

/**
 * Extends a lease, from now on.
 * @throws {DomainError} LEASE_NOT_FOUND, LEASE_LOST
 */
export async function renewLease(work: Work, lease_id: string, lease_seconds: number) {
  const lease = await work.db.inboxLeases.renew(requireLeaseKey(work, lease_id), lease_seconds * 1_000);
  if (!lease) throw leaseLost();
  const id = toLeaseId(work.actor.agent_id, lease.fencing_token);
  return {
    id,
    lease_id: id,
    fencing_token: lease.fencing_token,
    attempt: lease.attempts,
    expires_at: lease.expires_at,
  };
}

/**
 * Acknowledges several leases of one agent in one statement: those of one call, or of several in one transaction.
 * @returns for each call the result of each lease, in order
 */
export async function acknowledgeLeases(
  calls: readonly { work: Work; ids: readonly string[] }[],
): Promise<AcknowledgeResult[][]> {
  const [first] = calls;
  if (!first) return [];
  const tokensOfCalls = calls.map(({ work, ids }) =>
    ids.map((id) => readFencingToken(work.actor.agent_id, id)),
  );
  const known = tokensOfCalls.flat().filter((token) => token !== undefined);
  const acknowledged = new Set(known.length > 0 ? await acknowledge(first.work, known) : []);
  return tokensOfCalls.map((tokens) => {
    const results = tokens.map((token) => {
      if (token === undefined) return 'not_found';
      return acknowledged.has(token) ? 'acknowledged' : 'lost';
    });
    // A lease that two calls acknowledge is lost to the second one.
    for (const token of tokens) if (token !== undefined) acknowledged.delete(token);
    return results;
  });
}

/**
 * Acknowledges a lease, and sends its reply in the same transaction: both are done, or nothing. The thread is locked before the item, as in
 * every change of the thread.
 * @param reply.reply_to null for the message of the item
 * @returns the reply as sent; null without one
 * @throws {DomainError} LEASE_NOT_FOUND, LEASE_LOST, VALIDATION_ERROR (the event has no thread), and as `sendMessage`
 */
export async function acknowledgeLease(work: Work, lease_id: string, reply: Reply | null) {
  const key = requireLeaseKey(work, lease_id);
  const sent = reply && (await sendReply(work, key, reply));
  const acknowledged = await acknowledge(work, [key.fencing_token]);
  if (acknowledged.length === 0) throw leaseLost();
  return sent;
}

async function sendReply(work: Work, key: ReturnType<typeof requireLeaseKey>, reply: Reply) {
  const lease = await work.db.inboxLeases.find(key);
  if (!lease) throw leaseLost();
  const { thread_id } = lease;
  if (thread_id === null) throw wrongField('reply', 'the event of this lease belongs to no thread');
  return sendMessage(work, {
    ...reply,
    reply_to: reply.reply_to ?? (await findMessageId(work, lease)),
    thread_id,
  });
}

/** The thread of a current lease of the actor, if both exist. */
export async function findThreadOfLease(
  { db: { inboxLeases }, actor }: Work,
  lease_id: string,
): Promise<string | undefined> {
  const fencing_token = readFencingToken(actor.agent_id, lease_id);
  if (fencing_token === undefined) return undefined;
  const lease = await inboxLeases.find({ agent_id: actor.agent_id, fencing_token });
  return lease?.thread_id ?? undefined;
}

/** The id of the message that an item is about, if any. */
async function findMessageId(work: Work, { event_id }: { event_id: string }): Promise<string | null> {
  const [event] = await work.db.feed.readEvents([event_id]);
  return event?.message?.id ?? null;
}

/** Returns the fencing tokens of the leases that were current. */
async function acknowledge(work: Work, tokens: readonly number[]): Promise<number[]> {
  const { agent_id } = work.actor;
  const rows = await work.db.inboxLeases.acknowledge(agent_id, [...new Set(tokens)]);
  if (rows.some(({ has_successor }) => has_successor))
    work.changes.publish({ topic: inboxTopic, body: agent_id });
  if (rows.some(({ sequence }) => sequence !== null))
    work.changes.publishLocally({ topic: handledTopic, body: agent_id });
  return rows.map(({ fencing_token }) => fencing_token);
}

/**
 * Gives an item back before it is handled. It counts as an attempt: after the last one the item is dead.
 * @param delay_seconds how long no instance gets it.
 * @throws {DomainError} LEASE_NOT_FOUND, LEASE_LOST
 */
export async function releaseLease(
  work: Work,
  lease_id: string,
  { delay_seconds, reason }: { delay_seconds: number; reason: string | null },
) {
  const release = { delay_ms: delay_seconds * 1_000, reason };
  const key = requireLeaseKey(work, lease_id);
  const lease = await work.db.inboxLeases.find(key);
  // The task is locked before the item.
  if (lease?.task_id) await returnTasks(work, [lease]);
  const item = await work.db.inboxLeases.release(key, release);
  if (!item) throw leaseLost();
  if (item.state === 'dead') work.changes.enqueue(toNoticeJob(work.actor.agent_id, lease_id));
  work.changes.publish({ topic: inboxTopic, body: work.actor.agent_id });
  return item;
}
