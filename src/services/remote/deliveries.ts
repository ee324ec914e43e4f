import type { ScanStatus } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isOpenTask, taskDeliveries } from '../../../packages/core/src/domain/tasks.ts';
import type { RemoteItem, RemoteTask } from '../../../packages/core/src/domain/remote.ts';
import type { AcceptedMessage, RemoteMessageRow } from '../../repositories/remote/messages.ts';
import type { RemoteTaskRow } from '../../repositories/remote/threads.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { type LockedFiles, lockFiles } from '../attachments/files-to-send.ts';
import { lockThread, sendMessage } from '../messages/send.ts';
import { moveTask } from '../tasks/change.ts';
import { updateTask } from '../tasks/tasks.ts';
import { recordDeliveries } from '../threads/receipts.ts';

/** A message or an artifact of the remote side, with the ids of its files, which are stored. */
export interface StoredItem extends RemoteItem {
  attachment_ids: readonly string[];
}

/** Adds to the text of an item that one of its files is left out. */
export const noteRefusedFile = (content: string, filename: string, why: string): string =>
  [content, `The file ${filename} was not accepted: ${why}`].filter((line) => line !== '').join('\n\n');

/** A message that was sent to the remote agent. */
export type SentMessage = Pick<RemoteMessageRow, 'message_id' | 'thread_id' | 'sequence'>;

/** A thread, and its remote agent. */
export interface RemoteThread {
  thread_id: string;
  agent: { id: string; canonical_handle: string };
}

/** A thread of the acting remote agent. */
const toRemoteThread = ({ actor }: Work, thread_id: string): RemoteThread => ({
  thread_id,
  agent: { id: actor.agent_id, canonical_handle: actor.handle },
});

/**
 * Notes that remote agents have accepted messages, one for each thread: in a task, or with a message in place of one, which completes the send.
 * Any number of messages takes the same few statements.
 */
export async function noteAccepted(
  work: SystemWork,
  accepted: readonly (RemoteThread & { message: AcceptedMessage })[],
): Promise<void> {
  work.changes.defer(
    work.db.remoteMessages.addAccepted(
      accepted.map(({ message }) => message),
      work.now,
    ),
  );
  await moveMarks(work, accepted);
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
  await work.db.remoteMessages.addMessage({ ...message, ...row });
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
  const { remoteMessages, remoteThreads, tasks } = work.db;
  const { thread_id, remote_task_id, task_id } = link;
  const items = await lockAndFilter(work, thread_id, found);
  const current = await remoteThreads.findTask(thread_id, remote_task_id);
  // A callback that came since the task was read.
  const calledAt = current?.poll_at === link.poll_at ? null : (current?.poll_at ?? null);
  const [task] = task_id === null ? [] : await tasks.lock([task_id]);
  const isOpen = task !== undefined && isOpenTask(task.state);
  const end = isOpen && isWhole ? toReport(state) : null;
  const applied: { key: string; message_id: string | null }[] = [];
  for (const [at, item] of items.entries()) {
    const isLast = at === items.length - 1;
    const stored = isOpen
      ? reportItem(work, task.id, item, isLast && end !== null ? end : 'working', state)
      : sendItem(work, link, item);
    applied.push({ key: item.key, message_id: await stored });
  }
  if (isOpen && items.length === 0 && end !== null && end !== task.state)
    await updateTask(work, { ...plainReport, task_id: task.id, state: end, message: null });
  if (applied.length > 0) await remoteThreads.addApplied(thread_id, applied, work.now);
  const { generation } = mailbox ?? link;
  const seen = mailbox?.delivery ?? (state === 'completed' ? 'handled' : 'delivered');
  await remoteThreads.putTask({
    ...link,
    state,
    generation: Math.max(generation, link.generation),
    polls: items.length > 0 || isOpenTask(link.state) !== isOpenTask(state) ? 0 : link.polls + 1,
    // The marks of a later message are those of this one too.
    poll_at:
      calledAt ??
      (isOpenTask(state) || !(await remoteMessages.hasLater(thread_id, remote_task_id)) ? poll_at : null),
  });
  await remoteMessages.setDelivery(thread_id, remote_task_id, seen, mailbox !== null);
  // The agent can have read earlier messages, and this one not.
  for (const level of taskDeliveries) {
    const marked = level === 'stored' ? undefined : mailbox?.marks[level];
    if (marked !== undefined) await remoteMessages.setMark(thread_id, marked, level);
  }
  await moveMarks(work, [toRemoteThread(work, thread_id)]);
}

/** Sends, as the remote agent, a message that answers another one in place of a task: the only one of `items`. */
export async function applyRemoteMessage(
  work: Work,
  answered: SentMessage & { task_id: string | null },
  items: readonly StoredItem[],
): Promise<void> {
  const [item] = await lockAndFilter(work, answered.thread_id, items);
  if (!item) return;
  const [task] = answered.task_id === null ? [] : await work.db.tasks.lock([answered.task_id]);
  const message_id =
    task && isOpenTask(task.state)
      ? await reportItem(work, task.id, item, 'completed', 'completed')
      : await sendItem(work, answered, item);
  await work.db.remoteThreads.addApplied(answered.thread_id, [{ key: item.key, message_id }], work.now);
}

/**
 * Locks a thread, as a send does before it locks tasks, so that no other process applies the same items. Returns those that were not applied
 * yet, without files that are unsafe: a scan can end before its file is sent.
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
  const fresh = items.filter(({ key }) => !applied.has(key));
  const { agent_id: uploader_id } = work.actor;
  const files = fresh.flatMap(({ attachment_ids }) => attachment_ids.map((id) => ({ id, uploader_id })));
  const locked = await lockFiles(work, files, { wait: true });
  return fresh.map((item) => dropUnsafe(item, locked));
}

const whyUnsafe: Partial<Record<ScanStatus, string>> = {
  infected: 'It was found unsafe and was removed.',
  failed: 'It could not be scanned.',
};

function dropUnsafe(item: StoredItem, files: LockedFiles): StoredItem {
  let { content } = item;
  const attachment_ids = item.attachment_ids.filter((id) => {
    const { filename = '', scan_status = 'pending' } = files.get(id) ?? {};
    const why = whyUnsafe[scan_status];
    if (why !== undefined) content = noteRefusedFile(content, filename, why);
    return why === undefined;
  });
  return { ...item, content, attachment_ids };
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
): Promise<string | null> {
  const artifact = isArtifact || (state === 'completed' && remoteState === 'completed');
  const message = { content, content_type, attachment_ids };
  return (await updateTask(work, { ...plainReport, task_id, state, artifact, message })).message_id;
}

async function sendItem(
  work: Work,
  { thread_id, message_id }: Pick<RemoteTaskRow, 'thread_id' | 'message_id'>,
  { content, content_type, attachment_ids }: StoredItem,
): Promise<string> {
  const [question] = await work.db.messageBatches.listReplyTargets([{ thread_id, id: message_id }]);
  const draft = { content, content_type, attachment_ids, metadata: {}, reply_to: question?.id ?? null };
  return (await sendMessage(work, { ...draft, thread_id, task: { none: true } })).id;
}

/** Moves the marks of remote agents to what their sides say. */
async function moveMarks(work: SystemWork, threads: readonly RemoteThread[]): Promise<void> {
  const agentOf = new Map(threads.map(({ thread_id, agent }) => [thread_id, agent]));
  const rows = await work.db.remoteMessages.readMarks([...agentOf.keys()]);
  const marks = rows.map((row) => ({ ...row, agent_id: agentOf.get(row.thread_id)?.id ?? '' }));
  const delivered = marks.filter((mark) => mark.delivered > 0);
  await recordDeliveries(work, {
    marks: delivered.map(({ delivered: sequence, ...mark }) => ({ ...mark, sequence })),
  });
  const read = marks.filter((mark) => mark.read > 0);
  if (read.length === 0) return;
  const moved = await work.db.remoteMessages.moveMarks(read);
  if (moved.length === 0) return;
  const members = await work.db.inboxHandled.lockRecipients(moved.map(({ thread_id }) => thread_id));
  for (const { thread_id, read_sequence, handled_sequence } of moved) {
    const ofThread = members.filter((member) => member.thread_id === thread_id);
    const about = { thread_id, recipients: ofThread.map(({ agent_id }) => agent_id) };
    const data = { thread_id, agent: agentOf.get(thread_id) };
    if (read_sequence !== null) {
      const mark = { up_to_sequence: read_sequence, read_at: work.now };
      work.changes.emit({ type: 'message.read', ...about, data: { ...data, ...mark } });
    }
    if (handled_sequence !== null) {
      const mark = { up_to_sequence: handled_sequence, handled_at: work.now };
      work.changes.emit({ type: 'message.handled', ...about, data: { ...data, ...mark } });
    }
  }
}

/** When an update that was refused is tried again (ms); undefined: never. Its files are stored again then. */
export function retryOf(error: unknown, now: number): number | undefined {
  if (!(error instanceof DomainError) || error.code.startsWith('ATTACHMENT_')) return now + 30_000;
  if (error.status < 500 && error.status !== 429) return undefined;
  return now + (error.retry_after ?? 30) * 1_000;
}
