import type { History } from '../history.ts';
import { isDone, mayHaveWritten } from './lease-ends.ts';
import { listSkippedMessages } from './tasks.ts';
import type { ThreadLog } from './thread-log.ts';
import type { Violation } from './violation.ts';

/**
 * Checks the handled marks of agents with an inbox, in the threads that they never left: a mark only moves forward, is never beyond a
 * message that was not acknowledged, and at the end has reached every acknowledged message before the first one that was not. All members
 * read the same mark.
 */
export function* checkHandledMarks(
  history: History,
  logs: ReadonlyMap<string, ThreadLog>,
): Generator<Violation> {
  for (const log of logs.values()) {
    for (const { agent_id } of history.inboxes) {
      const hasLeft = history.member_changes.some(
        ({ kind, thread_id, member_id }) =>
          kind === 'removed' && thread_id === log.thread_id && member_id === agent_id,
      );
      if (!hasLeft && log.members.includes(agent_id)) yield* checkMark(log, agent_id, history);
    }
  }
}

function* checkMark(
  { thread_id, entries, messages }: ThreadLog,
  agent_id: string,
  history: History,
): Generator<Violation> {
  const what = `the handled mark of ${agent_id} in ${thread_id}`;
  const report = (detail: string): Violation => ({ kind: 'wrong receipt', detail: `${what}: ${detail}` });
  const leases = history.leases.filter(
    (lease) => lease.agent_id === agent_id && lease.thread_id === thread_id,
  );
  const acknowledged = new Set<string>();
  const perhaps = new Set(listSkippedMessages(history, agent_id));
  for (const lease of leases) {
    if (mayHaveWritten(lease, 'acknowledge')) perhaps.add(lease.message_id);
    if (lease.writes.some((write) => write.kind === 'acknowledge' && isDone(write)))
      acknowledged.add(lease.message_id);
  }
  // The agent got no messages from before it joined.
  const joined = entries.findLast(
    ({ event }) => event.type === 'thread.member_added' && event.data.member.id === agent_id,
  )?.event;
  const since = joined?.type === 'thread.member_added' ? joined.data.thread.last_sequence : 0;
  const items = messages.filter(({ sender, sequence }) => sender.id !== agent_id && sequence > since);
  let mark = 0;
  for (const { event } of entries) {
    if (event.type !== 'message.handled' || event.data.agent.id !== agent_id) continue;
    const { up_to_sequence } = event.data;
    if (up_to_sequence <= mark) yield report(`${up_to_sequence} follows ${mark}`);
    mark = Math.max(mark, up_to_sequence);
  }
  for (const { id, sequence } of items)
    if (sequence <= mark && !perhaps.has(id)) yield report(`${mark}; ${sequence} was not acknowledged`);
  const open = items.findIndex(({ id }) => !acknowledged.has(id));
  const reached = items.at(open === -1 ? -1 : open - 1);
  const expected = open === 0 ? 0 : (reached?.sequence ?? 0);
  if (mark < expected) yield report(`${mark}; all was acknowledged up to ${expected}`);
  for (const stored of history.stored) {
    const receipt = stored.receipts.find((each) => each.agent_id === agent_id);
    if (stored.thread_id === thread_id && receipt && receipt.handled !== mark)
      yield report(`${receipt.handled} as ${stored.agent_id} reads it; its events say ${mark}`);
  }
}
