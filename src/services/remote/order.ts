import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { invitationClientId } from '../../../packages/core/src/domain/remote.ts';
import type { ClientTask } from '../a2a/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

const isOtherInstallation = ({ actor }: Work): boolean => actor.client_id === invitationClientId;

/**
 * Returns what another installation learns with a task of its conversation: which message each one of the task follows, and the marks of the
 * asked agent. Empty for other clients.
 */
export async function readConversation(work: Work, { thread_id, agent_id, messages }: ClientTask) {
  if (!isOtherInstallation(work)) return {};
  const { agent_id: client_id } = work.actor;
  const ids = messages.map(({ id }) => id);
  const [previous, marks] = await Promise.all([
    work.db.remoteOrder.listPrevious(ids, client_id),
    work.db.remoteOrder.listMarks({ thread_id, client_id, agent_id }),
  ]);
  return {
    predecessors: new Map(previous.map(({ id, after }) => [id, after])),
    marks: Object.fromEntries(marks.map(({ level, message_id }) => [level, message_id])),
  };
}

/** A message of another installation is stored: what waits for it follows. */
export function noteArrival(work: Work, { thread_id, key }: { thread_id: string; key: string }): void {
  if (!isOtherInstallation(work)) return;
  work.changes.defer(work.db.remoteOrder.wakeHeld(thread_id, [key], work.now));
}

/**
 * Checks that the message before a message of another installation has arrived, or will not arrive any more.
 * @throws {DomainError} UNAVAILABLE
 */
export async function requireInOrder(
  work: Work,
  { thread_id, after }: { thread_id: string; after: string | undefined },
): Promise<void> {
  if (after === undefined || !isOtherInstallation(work)) return;
  if (!(await work.db.remoteOrder.isAwaited(thread_id, work.actor.agent_id, after))) return;
  const message = 'An earlier message of this conversation has not arrived yet: it is an update of a task.';
  throw new DomainError('UNAVAILABLE', message, { retry_after: 1 });
}
