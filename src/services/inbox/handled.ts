import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';

/** Members whose marks one transaction moves. */
const membersPerWrite = 500;

/** Moves all handled marks of these agents, as `recordHandled`, in one transaction or several. */
export async function moveHandledMarks(
  unitOfWork: Pick<UnitOfWork, 'write'>,
  agentIds: readonly string[] | null,
  minAgeMs = 0,
): Promise<void> {
  while (await unitOfWork.write(system, (work) => recordHandled(work, agentIds, minAgeMs)));
}

/**
 * Moves the handled marks of members whose messages were acknowledged: never back, and never beyond a message that is not handled. Handled
 * messages count as read. The members of the thread receive one event for each mark that moved. Any number of threads and messages takes
 * the same few statements.
 * @param agentIds null for all agents.
 * @param minAgeMs only what was acknowledged at least this long ago.
 * @returns whether there may be more
 */
export async function recordHandled(
  work: SystemWork,
  agentIds: readonly string[] | null,
  minAgeMs: number,
): Promise<boolean> {
  const members = await work.db.inboxHandled.lockMembers(agentIds, {
    min_age_ms: minAgeMs,
    limit: membersPerWrite,
  });
  if (members.length === 0) return false;
  const moved = await work.db.inboxHandled.moveMarks(members);
  const recipients = await listRecipients(work, moved);
  for (const { thread_id, agent_id: id, canonical_handle, handled_sequence, read_sequence } of moved) {
    const about = { thread_id, recipients: recipients.get(thread_id) ?? [] };
    const member = { thread_id, agent: { id, canonical_handle } };
    if (about.recipients.length === 0) continue;
    if (read_sequence !== null) {
      const data = { ...member, up_to_sequence: read_sequence, read_at: work.now };
      work.changes.emit({ type: 'message.read', ...about, data });
    }
    if (handled_sequence !== null) {
      const data = { ...member, up_to_sequence: handled_sequence, handled_at: work.now };
      work.changes.emit({ type: 'message.handled', ...about, data });
    }
  }
  return members.length === membersPerWrite;
}

/** The members of the threads of these marks, by thread. */
async function listRecipients(
  { db: { inboxHandled } }: SystemWork,
  moved: readonly { thread_id: string }[],
): Promise<Map<string, string[]>> {
  const recipients = new Map<string, string[]>();
  if (moved.length === 0) return recipients;
  for (const { thread_id, agent_id } of await inboxHandled.lockRecipients(
    moved.map((mark) => mark.thread_id),
  )) {
    const members = recipients.get(thread_id);
    if (members) members.push(agent_id);
    else recipients.set(thread_id, [agent_id]);
  }
  return recipients;
}
