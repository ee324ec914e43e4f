import { parseHandle, requireAgent, requireNotPaused, toAgentId } from './agents.ts';
import { emit } from '../core/feed.ts';
import { removeItemsOfThread } from '../core/inbox.ts';
import { appendMessage, prepareMessage, requireMetadata } from './messages.ts';
import { readPage, type PageInput } from './pages.ts';
import { requireAdmission, requireAudience } from './policies.ts';
import type { Agent, AgentRef, Member, Thread } from '../core/records.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler, State } from '../core/state.ts';
import { countUnread, othersOf, presentThread, requireThread, toRef } from './thread-records.ts';

const maxMembers = 256;
const moves: Record<Thread['status'], readonly Thread['status'][]> = {
  active: ['closed', 'archived'],
  closed: ['active', 'archived'],
  archived: ['active'],
};

function emitToMembers(
  state: State,
  thread: Thread,
  type:
    | 'thread.created'
    | 'thread.updated'
    | 'thread.member_added'
    | 'thread.member_removed'
    | 'message.read',
  data: object,
  recipients = thread.members,
): void {
  emit(state, { type, thread_id: thread.id, recipients: recipients.map(({ id }) => id), data });
}

/** The thread in an event: without what differs between members. */
function eventThread(thread: Thread): object {
  const { unread_count: _count, ...data } = presentThread(thread, null);
  return data;
}

const newMember = (agent: AgentRef, read: number): Member => ({
  ...toRef(agent),
  read,
  delivered: read,
  handled: 0,
});

/** @throws {ServiceError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR */
function requireParticipants(call: Call, refs: readonly string[]): Agent[] {
  const others = refs.map((ref) => requireAgent(call, ref));
  const again = others.find((other, index) => other === call.me || others.indexOf(other) < index);
  if (!again) return others;
  const reason = again === call.me ? 'is you' : 'is named twice';
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${again.canonical_handle} ${reason}; name each other member once, in with_handle or participants.`,
  );
}

export interface NewThread {
  participants: readonly string[];
  subject: string | null;
  metadata: Record<string, unknown>;
  initial_message: Parameters<typeof prepareMessage>[2] | null;
}

/** Creates a thread with its first message, or neither. */
export function createThread(call: Call, input: NewThread) {
  const { state, me } = call;
  requireNotPaused(me);
  const others = requireParticipants(call, input.participants);
  if (!me.can_initiate_threads) {
    const message = 'The owner of this agent does not allow it to start threads.';
    throw new ServiceError('CANNOT_INITIATE_THREADS', message);
  }
  for (const other of others) requireAdmission(me, other);
  const time = state.clock.now();
  const thread: Thread = {
    id: state.newId('thd'),
    subject: input.subject,
    status: 'active',
    created_by: toRef(me),
    metadata: input.metadata,
    members: [me, ...others]
      .sort((a, b) => (a.canonical_handle < b.canonical_handle ? -1 : 1))
      .map((agent) => newMember(agent, 0)),
    last_message_at: null,
    created_at: time,
    updated_at: time,
    messages: [],
    activity: activityOf(state),
  };
  const prepared = input.initial_message && prepareMessage(call, thread, input.initial_message);
  state.threads.set(thread.id, thread);
  emitToMembers(state, thread, 'thread.created', presentThread(thread, null));
  return { thread, message: prepared && appendMessage(call, thread, prepared) };
}

/** A number that grows. */
export function activityOf(state: State): number {
  return Math.max(0, ...[...state.threads.values()].map(({ activity }) => activity)) + 1;
}

interface CreateThread {
  with_handle?: string;
  participants?: string[];
  subject?: string | null;
  initial_message?: string | { content: string; content_type: string; attachment_ids: string[] };
  reason?: string;
  metadata?: Record<string, unknown>;
}

function toNewThread(input: CreateThread): NewThread {
  const { with_handle, participants, subject = null, initial_message: first, reason, metadata = {} } = input;
  if ((with_handle === undefined) === (participants === undefined))
    throw wrongField('with_handle', 'send either with_handle or participants');
  const why = reason === undefined ? {} : { reason };
  const text = { content: '', content_type: 'text', attachment_ids: [], reply_to: null, metadata: why };
  const draft = typeof first === 'string' ? { ...text, content: first } : { ...text, ...first };
  if (typeof first === 'string' && first.trim() === '')
    throw wrongField(
      'initial_message',
      'must not be blank; leave it out to start a thread without a message',
    );
  if (first !== undefined && draft.content.trim() === '' && draft.attachment_ids.length === 0)
    throw wrongField('initial_message.content', 'must not be empty without attachments');
  const all = { ...metadata, ...why };
  requireMetadata(all);
  return {
    participants: participants ?? [with_handle ?? ''],
    subject,
    metadata: all,
    initial_message: first === undefined ? null : draft,
  };
}

interface ListThreads extends PageInput {
  status?: string;
  with_handle?: string;
  updated_since?: number;
  unread?: boolean;
}

export const threadHandlers = {
  create_thread(call: Call, input: CreateThread) {
    const { thread, message } = createThread(call, toNewThread(input));
    const initial = message ? { initial_message_id: message.id } : {};
    return { ...presentThread(thread, call.me), unread_count: 0, ...initial };
  },
  list_threads(call: Call, { limit, cursor, ...filter }: ListThreads) {
    const { state, me } = call;
    const { status, with_handle, updated_since = 0, unread = false } = filter;
    const handle = with_handle === undefined ? undefined : parseHandle(with_handle);
    const isListed = (thread: Thread) =>
      thread.members.some(({ id }) => id === me.id) &&
      (status === undefined ? thread.status !== 'archived' : thread.status === status) &&
      (handle === undefined || thread.members.some((member) => member.canonical_handle === handle)) &&
      thread.updated_at >= updated_since &&
      (!unread || countUnread(thread, me) > 0);
    const list = () => [...state.threads.values()].filter(isListed).sort((a, b) => b.activity - a.activity);
    const page = cursor === undefined ? { limit } : { limit, cursor };
    const { rows, next_cursor } = readPage(call, page, ['threads', filter], list);
    return { threads: rows.map((thread) => presentThread(thread, me)), next_cursor };
  },
  get_thread: (call: Call, { thread_id }: { thread_id: string }) =>
    presentThread(requireThread(call, thread_id), call.me),
  update_thread(
    call: Call,
    input: { thread_id: string; status?: Thread['status']; subject?: string | null },
  ) {
    const thread = requireThread(call, input.thread_id);
    if (input.status === undefined && input.subject === undefined)
      throw wrongField('status', 'send status, subject or both');
    const { status = thread.status, subject = thread.subject } = input;
    if (status === thread.status && subject === thread.subject) return presentThread(thread, call.me);
    if (status !== thread.status && !moves[thread.status].includes(status)) {
      const message = `A thread cannot go from ${thread.status} to ${status}; set it to active first.`;
      throw new ServiceError('INVALID_TRANSITION', message);
    }
    if (subject !== thread.subject) requireMayWrite(call, thread);
    Object.assign(thread, { status, subject, updated_at: call.state.clock.now() });
    emitToMembers(call.state, thread, 'thread.updated', eventThread(thread));
    return presentThread(thread, call.me);
  },
  add_thread_member(call: Call, { thread_id, handle }: { thread_id: string; handle: string }) {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const agent = requireAgent(call, handle);
    requireNotPaused(me);
    if (thread.members.some(({ id }) => id === agent.id)) return presentThread(thread, me);
    if (thread.status !== 'active')
      throw new ServiceError('THREAD_CLOSED', `This thread is ${thread.status}; set it to active first.`);
    requireMayWrite(call, thread);
    requireAdmission(me, agent);
    if (thread.members.length >= maxMembers)
      throw new ServiceError('VALIDATION_ERROR', `A thread has at most ${maxMembers} members.`);
    thread.members.push(newMember(agent, thread.messages.length));
    thread.updated_at = state.clock.now();
    const data = { thread_id, member: toRef(agent), by: toRef(me), thread: eventThread(thread) };
    emitToMembers(state, thread, 'thread.member_added', data);
    return presentThread(thread, me);
  },
  remove_thread_member(call: Call, { thread_id, member_ref }: { thread_id: string; member_ref: string }) {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const id = toAgentId(state, member_ref);
    const before = thread.members;
    const member = before.find((one) => one.id === id);
    if (!member)
      throw new ServiceError('AGENT_NOT_FOUND', `No such member of this thread: ${member_ref.slice(0, 80)}`);
    thread.members = before.filter((one) => one !== member);
    removeItemsOfThread(state.agents.get(member.id), thread_id);
    thread.updated_at = state.clock.now();
    const data = { thread_id, member: toRef(member), by: toRef(me), thread: eventThread(thread) };
    emitToMembers(state, thread, 'thread.member_removed', data, before);
    return {};
  },
  mark_read(call: Call, { thread_id, up_to_sequence }: { thread_id: string; up_to_sequence: number }) {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const member = thread.members.find(({ id }) => id === me.id);
    const mark = Math.min(up_to_sequence, thread.messages.length);
    if (!member || mark <= member.read) return {};
    member.read = mark;
    const data = { thread_id, agent: toRef(me), up_to_sequence: mark, read_at: state.clock.now() };
    emitToMembers(state, thread, 'message.read', data);
    return {};
  },
  list_receipts: (call: Call, { thread_id }: { thread_id: string }) => ({
    receipts: requireThread(call, thread_id).members.map((member) => ({
      agent: toRef(member),
      delivered_up_to_sequence: Math.max(member.delivered, member.read),
      read_up_to_sequence: member.read,
      handled_up_to_sequence: member.handled,
    })),
  }),
} satisfies Record<string, Handler>;

/** Every member sees the change, so it needs the rights of a message. */
function requireMayWrite(call: Call, thread: Thread): void {
  requireNotPaused(call.me);
  const others = othersOf(call, thread).filter((other) => !other.is_retired);
  requireAudience(call.me, others, thread.created_by.id);
}
