import { DomainError } from '../../../../core/src/domain/errors.ts';
import { listMessagesInput, sendMessageInput, toDraft } from '../../../../core/src/inputs/messages.ts';
import { checkMessagePolicy } from '../../../../core/src/policies/inbound.ts';
import { requireReplaceable } from '../../../../core/src/policies/withdrawals.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import { emit } from '../core/feed.ts';
import { removeFromInboxes, requireLease } from '../core/inbox.ts';
import { applyMessage, type TaskEffect } from '../core/tasks.ts';
import type { Agent, Attachment, Message, Thread } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import { relate, requireNotPaused } from './agents.ts';
import { claimFiles } from './attachments.ts';
import { readPage } from '../core/pages.ts';
import { requireReviewed } from './reviews.ts';
import { othersOf, requireThread } from './thread-records.ts';

export type Draft = ReturnType<typeof toDraft>;

interface Prepared {
  draft: Draft;
  files: Attachment[];
  /** The message that it replaces. */
  old: Message | null;
}

/** Checks a message to the other members of a thread. @throws {DomainError} as `checkMessagePolicy` */
export function requireAudience(me: Agent, others: readonly Agent[], creatorId: string): void {
  const alone = others.length === 1;
  for (const other of others) {
    const about = { ...other, ...relate(me, other), retired: other.is_retired, alone };
    const refusal = checkMessagePolicy(about, creatorId === other.id);
    if (refusal) throw refusal;
  }
}

/** @throws {DomainError} THREAD_CLOSED */
export function requireActive({ status }: Thread): void {
  if (status === 'active') return;
  const message = `This thread is ${status}; set its status to active first, or open another thread.`;
  throw new DomainError('THREAD_CLOSED', message);
}

/** Checks a message before anything is changed. @throws {DomainError} as the service */
export function prepareMessage(call: Call, thread: Thread, draft: Draft): Prepared {
  const { me } = call;
  requireNotPaused(me);
  requireActive(thread);
  requireAudience(me, othersOf(call, thread), thread.created_by);
  const files = claimFiles(call, draft.attachment_ids);
  const { reply_to } = draft;
  if (reply_to !== null && !thread.messages.some(({ id }) => id === reply_to))
    throw new DomainError('MESSAGE_NOT_FOUND', 'reply_to is not a message in this thread.');
  const place = { thread_id: thread.id, sender_id: me.id };
  const { replaces } = draft;
  const old = replaces === undefined ? null : requireReplaceable(call.state.messages.get(replaces), place);
  requireReviewed(call, thread, draft);
  return { draft, files, old };
}

/** A number that grows. */
export function nextActivity({ threads }: State): number {
  return Math.max(0, ...[...threads.values()].map(({ activity }) => activity)) + 1;
}

/** Appends a message that was checked. The read mark moves over it if nothing unread is before it. */
export function appendMessage(
  call: Call,
  thread: Thread,
  { draft, files, old }: Prepared,
  effect: TaskEffect = {},
): Message {
  const { state, me } = call;
  const { attachment_ids: _ids, ...fields } = draft;
  const created_at = Math.max(thread.last_message_at ?? 0, state.clock.now());
  const message: Message = {
    ...fields,
    id: state.newId('message'),
    thread_id: thread.id,
    sender_id: me.id,
    sender_handle: me.canonical_handle,
    created_at,
    sequence: thread.messages.length + 1,
    attachments: files.map(({ record }) => record),
    written_by: 'agent',
  };
  const member = thread.members.find(({ id }) => id === me.id);
  const hasUnread = thread.messages.some(
    ({ sequence, sender_id }) => sequence > (member?.read_sequence ?? 0) && sender_id !== me.id,
  );
  if (member && !hasUnread) member.read_sequence = message.sequence;
  thread.messages.push(message);
  state.messages.set(message.id, message);
  const activity = nextActivity(state);
  Object.assign(thread, { last_message_at: created_at, updated_at: created_at, activity });
  for (const file of files) {
    file.message = message;
    file.record.expires_at = null;
  }
  const recipients = thread.members.map(({ id }) => id);
  if (old) old.replaced_by = message.id;
  if (old) removeFromInboxes(state, old, thread);
  emit(state, { type: 'message.created', thread_id: thread.id, message, recipients });
  applyMessage(call, thread, message, effect);
  return message;
}

/** Sends a message in a thread of the caller. */
export function sendMessage(call: Call, thread_id: string, draft: Draft, effect?: TaskEffect): Message {
  const thread = requireThread(call, thread_id);
  return appendMessage(call, thread, prepareMessage(call, thread, draft), effect);
}

export const messageHandlers = {
  send_message: defineHandler(sendMessageInput, (call, { thread_id, lease_id, ...fields }) => {
    const thread = requireThread(call, thread_id);
    const prepared = prepareMessage(call, thread, toDraft(fields));
    if (lease_id !== undefined) requireLease(call, lease_id);
    return presentMessage(appendMessage(call, thread, prepared));
  }),
  list_messages: defineHandler(listMessagesInput, (call, { thread_id, order, after_sequence, ...page }) => {
    const { messages } = requireThread(call, thread_id);
    const list = () => {
      const rows = messages.filter(({ sequence }) => sequence > after_sequence);
      return order === 'asc' ? rows : rows.toReversed();
    };
    const name = ['messages', thread_id, order, after_sequence];
    const { rows, next_cursor } = readPage(call, page, name, list);
    return { messages: rows.map(presentMessage), next_cursor };
  }),
};
