import { type LoadedBatch, type SendToLoad, toKey } from '../../../work/send-context.ts';

export type ReadBatch = Omit<LoadedBatch, 'store'>;

/** Reads a batch in one round trip. Replies add a statement, for all messages together. */
export async function readBatch(
  sends: readonly SendToLoad[],
  { wait, hasLoopLimit }: { wait: boolean; hasLoopLimit: boolean },
): Promise<ReadBatch> {
  const [first] = sends;
  if (!first) throw new Error('an empty batch');
  const { messageBatches } = first.work.db;
  const writers = listWriters(sends);
  const replies = listReplies(sends);
  const [threads, audiences, exchanges, targets] = await Promise.all([
    messageBatches.lockThreads(writers, { wait }),
    messageBatches.listAudiences(writers),
    hasLoopLimit ? messageBatches.listExchanges(writers) : [],
    replies.length > 0 ? messageBatches.listReplyTargets(replies) : [],
  ]);
  return {
    threads: threads.map((thread) => {
      return { thread, exchanges: exchanges.filter(({ thread_id }) => thread_id === thread.id) };
    }),
    audiences: new Map(audiences.map((audience) => [toKey(audience.thread_id, audience.agent_id), audience])),
    replyTargets: new Set(targets.map(({ thread_id, id }) => toKey(thread_id, id))),
    isRead: true,
  };
}

/** The messages that are replied to. */
export function listReplies(sends: readonly SendToLoad[]): { thread_id: string; id: string }[] {
  return sends.flatMap(({ message: { thread_id, reply_to: id } }) =>
    id === null ? [] : [{ thread_id, id }],
  );
}

/** The sender and thread of each message, without duplicates. */
function listWriters(sends: readonly SendToLoad[]): { thread_id: string; agent_id: string }[] {
  const writers = sends.map(({ work: { actor }, message: { thread_id } }) => {
    return { thread_id, agent_id: actor.agent_id };
  });
  return [...new Map(writers.map((writer) => [toKey(writer.thread_id, writer.agent_id), writer])).values()];
}
