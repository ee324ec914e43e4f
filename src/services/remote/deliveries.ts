import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isOpenTask, type TaskDelivery } from '../../../packages/core/src/domain/tasks.ts';
import type { RemoteItem, RemoteTask } from '../../../packages/core/src/domain/remote.ts';
import type { RemoteMessageRow, RemoteTaskRow } from '../../repositories/remote/threads.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { lockThread, sendMessage } from '../messages/send.ts';
import { moveTask } from '../tasks/change.ts';
import { updateTask } from '../tasks/tasks.ts';
import { recordDeliveries } from '../threads/receipts.ts';

/** A message or an artifact of the remote side, with the ids of its files, which are stored. */
export interface StoredItem extends RemoteItem {
  attachment_ids: readonly string[];
}

/** A message that was sent to the remote agent. */
export type SentMessage = Pick<RemoteMessageRow, 'message_id' | 'thread_id' | 'sequence'>;

/**
 * Notes, as the remote agent, that its side has accepted a message: in a task, or with a message in place of one, which completes the send.
 * @param task null without one.
 */
export async function noteAccepted(
  work: Work,
  sent: SentMessage,
  task: Omit<RemoteTaskRow, 'thread_id'> | null,
  delivery: TaskDelivery,
): Promise<void> {
  await lockThread(work, sent.thread_id);
  const called_id = await work.db.remoteThreads.lock(sent.thread_id);
  const remote_task_id = task?.remote_task_id ?? null;
  const outcome = { outcome: 'accepted' as const, remote_task_id, delivery, error: null };
  await work.db.remoteThreads.addMessage({ ...sent, ...outcome, created_at: work.now });
  // A callback that came before its task was known.
  const poll_at = task && called_id === sent.message_id ? work.now : (task?.poll_at ?? null);
  if (task) await work.db.remoteThreads.putTask({ ...task, thread_id: sent.thread_id, poll_at });
  await moveMarks(work, sent.thread_id);
}

/** Notes, as the remote agent, that a message does not arrive, or that this is unknown. Its sender gets an event, and the task that it asked ends. */
export async function noteUndeliverable(
  work: Work,
  sent: SentMessage & { sender_id: string; task_id: string | null },
  outcome: 'undeliverable' | 'unknown',
  error: { code: string; message: string },
): Promise<void> {
  const { sender_id, task_id, ...message } = sent;
  const { thread_id, message_id, sequence } = message;
  const row = { outcome, remote_task_id: null, delivery: 'stored' as const, error, created_at: work.now };
  await lockThread(work, thread_id);
  await work.db.remoteThreads.lock(thread_id);
  await work.db.remoteThreads.addMessage({ ...message, ...row });
  const agent = { id: work.actor.agent_id, canonical_handle: work.actor.handle };
  const data = { thread_id, message_id, sequence, agent, outcome, error, failed_at: work.now };
  work.changes.emit({ type: 'message.undeliverable', thread_id, recipients: [sender_id], data });
  const [task] = task_id === null || outcome === 'unknown' ? [] : await work.db.tasks.lock([task_id]);
  if (task?.message_id === message_id) moveTask(work, task, 'fail', { by: null });
}

/**
 * Applies what is new of a task of the remote agent, as this agent: its messages and artifacts, each once, and its state. A repeated call
 * changes nothing.
 * @param items those that were not applied yet, oldest first.
 * @param isWhole whether no further item follows.
 * @throws {DomainError} what refuses a message: a closed thread, a block, the loop guard
 */
export async function applyRemoteTask(
  work: Work,
  link: RemoteTaskRow,
  { state, mailbox }: RemoteTask,
  {
    items: found,
    isWhole,
    poll_at,
  }: { items: readonly StoredItem[]; isWhole: boolean; poll_at: number | null },
): Promise<void> {
  const { remoteThreads, tasks } = work.db;
  const { thread_id, remote_task_id, task_id } = link;
  const items = await lockAndFilter(work, thread_id, found);
  const current = await remoteThreads.findTask(thread_id, remote_task_id);
  // A callback that came since the task was read.
  const calledAt = current?.poll_at === link.poll_at ? null : (current?.poll_at ?? null);
  const [task] = task_id === null ? [] : await tasks.lock([task_id]);
  const isOpen = task !== undefined && isOpenTask(task.state);
  const end = isOpen && isWhole ? toReport(state) : null;
  for (const [at, item] of items.entries()) {
    if (isOpen) {
      const isLast = at === items.length - 1;
      await reportItem(work, task.id, item, isLast && end !== null ? end : 'working', state);
    } else await sendItem(work, link, item);
  }
  if (isOpen && items.length === 0 && end !== null && end !== task.state)
    await updateTask(work, { ...plainReport, task_id: task.id, state: end, message: null });
  const keys = items.map(({ key }) => key);
  await remoteThreads.addApplied(thread_id, keys);
  if (keys.length > 0) await work.db.remoteOrder.wakeHeld(thread_id, keys, work.now);
  const { generation } = mailbox ?? link;
  const seen = mailbox?.delivery ?? (state === 'completed' ? 'handled' : 'delivered');
  await remoteThreads.putTask({
    ...link,
    state,
    generation: Math.max(generation, link.generation),
    polls: items.length > 0 ? 0 : link.polls + 1,
    // The marks of a later message are those of this one too.
    poll_at:
      calledAt ??
      (isOpenTask(state) || !(await remoteThreads.hasLater(thread_id, remote_task_id)) ? poll_at : null),
  });
  await remoteThreads.setDelivery(thread_id, remote_task_id, seen, mailbox !== null);
  await moveMarks(work, thread_id);
}

/** Sends, as the remote agent, a message that answers another one in place of a task. */
export async function applyRemoteMessage(
  work: Work,
  answered: SentMessage & { task_id: string | null },
  item: StoredItem,
): Promise<void> {
  const [fresh] = await lockAndFilter(work, answered.thread_id, [item]);
  if (!fresh) return;
  const [task] = answered.task_id === null ? [] : await work.db.tasks.lock([answered.task_id]);
  if (task && isOpenTask(task.state)) await reportItem(work, task.id, item, 'completed', 'completed');
  else await sendItem(work, answered, item);
  await work.db.remoteThreads.addApplied(answered.thread_id, [item.key]);
  await work.db.remoteOrder.wakeHeld(answered.thread_id, [item.key], work.now);
}

/**
 * Locks a thread, as a send does before it locks tasks, so that no other process applies the same items. Returns those that were not applied
 * yet.
 */
async function lockAndFilter(
  work: Work,
  thread_id: string,
  items: readonly StoredItem[],
): Promise<StoredItem[]> {
  const { remoteThreads } = work.db;
  await lockThread(work, thread_id);
  await remoteThreads.lock(thread_id);
  const keys = items.map(({ key }) => key);
  const applied = new Set(await remoteThreads.listApplied(thread_id, keys));
  return items.filter(({ key }) => !applied.has(key));
}

const plainReport = { data: null, artifact: false, lease_id: undefined };

/** The state that the agent reports here; null: none. A task that the remote side has canceled brings no answer. */
function toReport(state: RemoteTask['state']) {
  if (state === 'submitted') return null;
  return state === 'canceled' ? 'failed' : state;
}

async function reportItem(
  work: Work,
  task_id: string,
  { content, content_type, attachment_ids, isArtifact }: StoredItem,
  state: Exclude<ReturnType<typeof toReport>, null>,
  remoteState: RemoteTask['state'],
): Promise<void> {
  const artifact = isArtifact || (state === 'completed' && remoteState === 'completed');
  const message = { content, content_type, attachment_ids };
  await updateTask(work, { ...plainReport, task_id, state, artifact, message });
}

async function sendItem(
  work: Work,
  { thread_id, message_id }: Pick<RemoteTaskRow, 'thread_id' | 'message_id'>,
  { content, content_type, attachment_ids }: StoredItem,
): Promise<void> {
  const [question] = await work.db.messageBatches.listReplyTargets([{ thread_id, id: message_id }]);
  const draft = { content, content_type, attachment_ids, metadata: {}, reply_to: question?.id ?? null };
  await sendMessage(work, { ...draft, thread_id, task: { none: true } });
}

/** Moves the marks of the remote agent to what its side says. */
async function moveMarks(work: Work, thread_id: string): Promise<void> {
  const { agent_id, handle } = work.actor;
  const marks = await work.db.remoteThreads.readMarks(thread_id);
  if (marks.delivered > 0)
    await recordDeliveries(work, { marks: [{ thread_id, agent_id, sequence: marks.delivered }] });
  if (marks.read === 0) return;
  const moved = await work.db.remoteThreads.moveMarks({ thread_id, agent_id }, marks);
  const members = await work.db.inboxHandled.lockRecipients([thread_id]);
  const about = { thread_id, recipients: members.map((member) => member.agent_id) };
  const data = { thread_id, agent: { id: agent_id, canonical_handle: handle } };
  if (moved?.read_sequence) {
    const read = { up_to_sequence: moved.read_sequence, read_at: work.now };
    work.changes.emit({ type: 'message.read', ...about, data: { ...data, ...read } });
  }
  if (moved?.handled_sequence) {
    const handled = { up_to_sequence: moved.handled_sequence, handled_at: work.now };
    work.changes.emit({ type: 'message.handled', ...about, data: { ...data, ...handled } });
  }
}

/** When an update that was refused is tried again (ms); undefined: never. */
export function retryOf(error: unknown, now: number): number | undefined {
  if (!(error instanceof DomainError)) return now + 30_000;
  if (error.status < 500 && error.status !== 429) return undefined;
  return now + (error.retry_after ?? 30) * 1_000;
}
