import type { MessageWriter } from '../../../packages/core/src/domain/threads.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { type LoadedBatch, toKey } from '../../work/send-context.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { checkOutgoing, type OutgoingCheck } from '../approvals/outgoing.ts';

/** A message to send, as far as its policy needs it. */
interface Outgoing {
  work: Work;
  message: { thread_id: string; attachment_ids: readonly string[] };
}

/** Of the sends whose agent has an outgoing policy. */
export type OutgoingChecks = ReadonlyMap<Outgoing, OutgoingCheck>;

/** Checks the messages of a batch by the outgoing policies of their senders. It reads only for senders that have one. */
export async function checkOutgoingOf(
  sends: readonly Outgoing[],
  { audiences }: Pick<LoadedBatch, 'audiences'>,
): Promise<OutgoingChecks> {
  const checks = sends.map(async (send) => {
    const { work, message } = send;
    const { thread_id } = message;
    const audience = audiences.get(toKey(thread_id, work.actor.agent_id));
    if (!audience || audience.outgoing_policy === 'free') return [];
    const has_files = message.attachment_ids.length > 0;
    const reach = { agents: audience.member_ids, thread_id, has_files };
    return [[send, await checkOutgoing(work, audience.outgoing_policy, reach)] as const];
  });
  return new Map((await Promise.all(checks)).flat());
}

/** Notes that the next message of a thread is not the first one to these agents. The statements travel with the commit. */
export function clearRecipients(
  sends: readonly Outgoing[],
  results: readonly BatchResult<{ thread_id: string; sender_id: string }>[],
  checks: OutgoingChecks,
): void {
  for (const [send, { uncleared: ids }] of checks) {
    const sent = results[sends.indexOf(send)] ?? null;
    if (sent === null || sent instanceof DomainError || ids.length === 0) continue;
    const { thread_id, sender_id: agent_id } = sent;
    const { changes, db, now } = send.work;
    changes.defer(db.outgoingClearances.insert({ agent_id, ids, thread_id, now }));
  }
}

/** Only the console acts for a person, so no token can claim or hide it. */
export function writerOf({ account_id, review }: Work['actor']): MessageWriter {
  if (account_id !== undefined) return 'person';
  return review?.is_edited === true ? 'person_edited' : 'agent';
}
