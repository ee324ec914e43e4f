import type { Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { withdrawMessage } from '../messages/withdraw.ts';
import { requireInOrder } from './order.ts';

/** A message that a client has withdrawn at its side. */
export interface ClientWithdrawal {
  /** The handle of the other agent. */
  agent: string;
  /** As the client names the message. */
  withdraws: string;
  context_id: string | undefined;
  conversation: string | undefined;
  after: string | undefined;
}

/**
 * Withdraws the copy of a message that the actor has sent in this conversation. Nothing happens without such a copy, so nothing is learned of
 * messages of others.
 * @throws {DomainError} UNAVAILABLE if the message itself has not arrived yet; THREAD_CLOSED
 */
export async function withdrawCopy(
  work: Work,
  { agent, withdraws, context_id, conversation, after }: ClientWithdrawal,
): Promise<void> {
  const { agent_id: client_id } = work.actor;
  const thread_id =
    conversation === undefined
      ? undefined
      : await work.db.remoteThreads.findConversation(client_id, conversation);
  if (thread_id !== undefined) await requireInOrder(work, { thread_id, after });
  const name = { client_id, handle: parseAgentKey(agent), key: withdraws };
  // A message that is still being stored is waited for.
  await work.db.a2aMessages.lock({ client_id, client_message_id: withdraws, handle: name.handle });
  const copy = await work.db.remoteWithdrawals.findCopy({
    ...name,
    thread_id: thread_id ?? context_id ?? '',
  });
  if (copy !== undefined) await withdrawMessage(work, copy);
}
