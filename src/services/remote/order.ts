import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { invitationClientId } from '../../../packages/core/src/domain/remote.ts';
import type { ClientTask } from '../a2a/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** Whether the actor is the agent of another installation, by an invitation. */
export const isOtherInstallation = ({ client_id }: Work['actor']): boolean =>
  client_id === invitationClientId;

/**
 * Returns what another installation learns with a task of its conversation: which message each one of the task follows, and the marks of the
 * asked agent. Empty for other clients.
 */
export async function readConversation(work: Work, { thread_id, agent_id, messages }: ClientTask) {
  if (!isOtherInstallation(work.actor)) return {};
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

/** Messages of another installation are stored: what waits for them follows. The statement travels with the commit. */
export function noteArrivals(work: Work, arrived: readonly { thread_id: string; key: string }[]): void {
  if (arrived.length === 0) return;
  const threadIds = arrived.map(({ thread_id }) => thread_id);
  const keys = arrived.map(({ key }) => key);
  work.changes.defer(work.db.remoteOrder.wakeHeld(threadIds, keys, work.now));
}

/**
 * Checks that the message before a message of another installation has arrived, or will not arrive any more.
 * @throws {EarlierIsMissing}
 */
export async function requireInOrder(
  work: Work,
  { thread_id, after }: { thread_id: string; after: string | undefined },
): Promise<void> {
  if (after === undefined || !isOtherInstallation(work.actor)) return;
  if (!(await work.db.remoteOrder.isAwaited(thread_id, work.actor.agent_id, after))) return;
  throw new EarlierIsMissing();
}

/** The refusal of a message before which another one must arrive. Over A2A it has a reason of its own: its repeats are not counted. */
export class EarlierIsMissing extends DomainError {
  override name = 'EarlierIsMissing';
  static readonly reason = 'EARLIER_MISSING';

  constructor() {
    const message = 'An earlier message of this conversation has not arrived yet. Retry later.';
    super('UNAVAILABLE', message, { retry_after: 1 });
  }
}
