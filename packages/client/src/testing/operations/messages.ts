import { relationshipOf, requireNotPaused } from './agents.ts';
import { claimFiles } from './attachments.ts';
import { emit, encodeCursor, lastNumber, readEvents, waitForEvents } from '../core/feed.ts';
import { requireLease } from './leases.ts';
import { readPage, type PageInput } from './pages.ts';
import { requireAudience } from './policies.ts';
import type { Attachment, Message, Thread } from '../core/records.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { othersOf, presentMessage, requireThread, toRef } from './thread-records.ts';

const maxContentBytes = 32_768;
const maxMetadataBytes = 4_096;

export interface Draft {
  content: string;
  content_type: string;
  attachment_ids: readonly string[];
  reply_to?: string | null;
  metadata: Record<string, unknown>;
  reason?: string;
}

interface Prepared {
  draft: Draft;
  files: Attachment[];
}

/** @throws {ServiceError} VALIDATION_ERROR */
export function requireMetadata(metadata: Record<string, unknown>, field = 'metadata'): void {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= maxMetadataBytes) return;
  throw wrongField(field, 'must be at most 4 KiB as JSON');
}

/** Checks a message before anything is changed. @throws {ServiceError} as the service */
export function prepareMessage(call: Call, thread: Thread, draft: Draft): Prepared {
  const { me } = call;
  requireContent(draft);
  requireNotPaused(me);
  if (thread.status !== 'active') {
    const message = `This thread is ${thread.status}; set its status to active first, or open another thread.`;
    throw new ServiceError('THREAD_CLOSED', message);
  }
  requireAudience(me, othersOf(call, thread), thread.created_by.id);
  const files = claimFiles(call, draft.attachment_ids);
  const { reply_to = null } = draft;
  if (reply_to !== null && !thread.messages.some(({ id }) => id === reply_to))
    throw new ServiceError('MESSAGE_NOT_FOUND', 'reply_to is not a message in this thread.');
  return { draft, files };
}

/**
 * Checks the content of a message.
 * @param path of the message in the input, such as `messages.0.`
 * @throws {ServiceError} VALIDATION_ERROR, MESSAGE_TOO_LARGE
 */
export function requireContent({ content, attachment_ids, metadata }: Draft, path = ''): void {
  if (Buffer.byteLength(content) > maxContentBytes) {
    const message = `must be at most ${maxContentBytes} bytes of UTF-8`;
    const details = [{ field: `${path}content`, message }];
    throw new ServiceError('MESSAGE_TOO_LARGE', `${path}content: ${message}`, { details });
  }
  if (content.trim() === '' && attachment_ids.length === 0)
    throw wrongField(`${path}content`, 'can be empty only if the message has attachments');
  if (new Set(attachment_ids).size < attachment_ids.length)
    throw wrongField(`${path}attachment_ids`, 'must not contain duplicates');
  requireMetadata(metadata, `${path}metadata`);
}

/** Appends a message that was checked. The read mark moves over it if nothing unread is before it. */
export function appendMessage(call: Call, thread: Thread, { draft, files }: Prepared): Message {
  const { state, me } = call;
  const { content, content_type, reply_to = null, metadata, reason } = draft;
  const created_at = Math.max(thread.last_message_at ?? 0, state.clock.now());
  const message: Message = {
    id: state.newId('msg'),
    thread_id: thread.id,
    sender: toRef(me),
    content,
    content_type,
    created_at,
    sequence: thread.messages.length + 1,
    attachments: files,
    reply_to,
    metadata: reason === undefined ? metadata : { ...metadata, reason },
    written_by: 'agent',
  };
  const member = thread.members.find(({ id }) => id === me.id);
  const hasUnread = thread.messages.some(
    ({ sequence, sender }) => sequence > (member?.read ?? 0) && sender.id !== me.id,
  );
  if (member && !hasUnread) member.read = message.sequence;
  thread.messages.push(message);
  state.messages.set(message.id, message);
  const activity = Math.max(...[...state.threads.values()].map((one) => one.activity)) + 1;
  Object.assign(thread, { last_message_at: created_at, updated_at: created_at, activity });
  for (const file of files) {
    file.message = message;
    file.record.expires_at = null;
  }
  const recipients = thread.members.map(({ id }) => id);
  const data = () => presentMessage(message);
  emit(state, { type: 'message.created', thread_id: thread.id, message, recipients, data });
  return message;
}

/** Sends a message in a thread of the caller. */
export function sendMessage(call: Call, { thread_id, ...draft }: Draft & { thread_id: string }): Message {
  const thread = requireThread(call, thread_id);
  return appendMessage(call, thread, prepareMessage(call, thread, draft));
}

/** What an operation that waits for a reply answers before the wait. */
export function toAnswer(message: Message): object {
  return {
    message: presentMessage(message),
    reply: null,
    after_sequence: message.sequence,
    cursor: 'latest',
  };
}

interface Wait {
  thread_id: string;
  after_sequence: number;
  wait_seconds: number;
  /** The position in the feed before the call. */
  start: number;
}

/** Waits for the first message of another member after a sequence; adds it and the feed position to the answer. */
export async function awaitReply(call: Call, wait: Wait): Promise<{ reply: object | null; cursor: string }> {
  const { me, state, signal } = call;
  const { thread_id, after_sequence } = wait;
  const find = () =>
    state.threads
      .get(thread_id)
      ?.messages.find(({ sequence, sender }) => sequence > after_sequence && sender.id !== me.id);
  const deadline = Date.now() + Math.min(wait.wait_seconds, 25) * 1_000;
  let reply = find();
  while (!reply && Date.now() < deadline && !signal.aborted) {
    await waitForEvents(me, lastNumber(me), deadline - Date.now(), signal);
    reply = find();
  }
  const sender = reply && state.agents.get(reply.sender.id);
  const relationship = sender ? relationshipOf(me, sender) : 'none';
  const quiet = reply?.metadata['no_reply_expected'] === true ? { reply_expected: false } : {};
  return {
    reply: reply ? { ...presentMessage(reply), relationship, ...quiet } : null,
    cursor: encodeCursor(me, positionAfter(call, wait, reply)),
  };
}

/** The position up to which the caller knows every event: its own messages, the thread that it opened, and the reply. */
function positionAfter({ me }: Call, { thread_id, start }: Wait, reply: Message | undefined): number {
  let position = start;
  const { events } = readEvents(me, new Set(['realtime:read']), start, Infinity);
  for (const { type, message, thread_id: of } of events) {
    const isOwn = message?.sender.id === me.id;
    const isOpening = type === 'thread.created' && of === thread_id;
    if (!isOwn && !isOpening && message !== reply) break;
    if (!message && !isOpening) break;
    position += 1;
    if (message && message === reply) break;
  }
  return position;
}

interface ListMessages extends PageInput {
  thread_id: string;
  order: 'asc' | 'desc';
  after_sequence: number;
}

export const messageHandlers = {
  send_message(call: Call, { lease_id, ...input }: Draft & { thread_id: string; lease_id?: string }) {
    const { thread_id, ...draft } = input;
    const thread = requireThread(call, thread_id);
    const prepared = prepareMessage(call, thread, draft);
    if (lease_id !== undefined) requireLease(call, lease_id);
    return presentMessage(appendMessage(call, thread, prepared));
  },
  ask_in_thread: (call: Call, { wait_seconds: _wait, ...input }: AskInThread) =>
    toAnswer(sendMessage(call, input)),
  wait_for_reply(call: Call, { thread_id, after_sequence }: { thread_id: string; after_sequence: number }) {
    requireThread(call, thread_id);
    return { thread_id, reply: null, after_sequence, cursor: 'latest' };
  },
  list_messages(call: Call, { thread_id, order, after_sequence, ...page }: ListMessages) {
    const { messages } = requireThread(call, thread_id);
    const list = () => {
      const rows = messages.filter(({ sequence }) => sequence > after_sequence);
      return order === 'asc' ? rows : rows.toReversed();
    };
    const name = ['messages', thread_id, order, after_sequence];
    const { rows, next_cursor } = readPage(call, page, name, list);
    return { messages: rows.map(presentMessage), next_cursor };
  },
} satisfies Record<string, Handler>;

interface AskInThread extends Draft {
  thread_id: string;
  wait_seconds: number;
}
