import { z } from 'zod';
import { parseHandle } from '../../../../core/src/domain/agents/handles.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import { canTransition } from '../../../../core/src/domain/threads.ts';
import type { EventType } from '../../../../core/src/events/list.ts';
import { threadId } from '../../../../core/src/inputs/fields.ts';
import {
  addThreadMemberInput,
  createThreadInput,
  listThreadsFields,
  markReadInput,
  metadataOf,
  removeThreadMemberInput,
  toFirstMessage,
  updateThreadInput,
} from '../../../../core/src/inputs/threads.ts';
import { checkInboundPolicy } from '../../../../core/src/policies/inbound.ts';
import { presentReceipt, type ReceiptColumns } from '../../../../core/src/records/receipt.ts';
import { emit } from '../core/feed.ts';
import { removeItemsOfThread } from '../core/inbox.ts';
import { endTasksOfMember, endTasksOfThread } from '../core/tasks.ts';
import type { Agent, AgentRef, Thread } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import { relate, requireAgent, requireNotPaused, toAgentId } from './agents.ts';
import { appendMessage, type Draft, nextActivity, prepareMessage, requireAudience } from './messages.ts';
import { readPage } from '../core/pages.ts';
import { columnsOf, countUnread, othersOf, presentThread, requireThread, toRef } from './thread-records.ts';

const maxMembers = 256;

function emitToMembers(
  state: State,
  { id, members }: Thread,
  type: EventType,
  data: object,
  recipients: readonly AgentRef[] = members,
): void {
  emit(state, { type, thread_id: id, recipients: recipients.map((member) => member.id), data });
}

const newMember = (agent: AgentRef, sequence: number): ReceiptColumns => ({
  ...toRef(agent),
  read_sequence: sequence,
  delivered_sequence: sequence,
  handled_sequence: 0,
});

/** @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR */
function requireParticipants(call: Call, refs: readonly string[]): Agent[] {
  const others = refs.map((ref) => requireAgent(call, ref));
  const again = others.find((other, index) => other === call.me || others.indexOf(other) < index);
  if (!again) return others;
  const reason = again === call.me ? 'is you' : 'is named twice';
  throw new DomainError(
    'VALIDATION_ERROR',
    `${again.canonical_handle} ${reason}; name each other member once, in with_handle or participants.`,
  );
}

/** @throws {DomainError} as `checkInboundPolicy` */
function requireAdmission(me: Agent, other: Agent): void {
  const refusal = checkInboundPolicy(other, relate(me, other));
  if (refusal) throw refusal;
}

export interface NewThread {
  participants: readonly string[];
  subject: string | null;
  metadata: Record<string, unknown>;
  initial_message: Draft | null;
}

/** Creates a thread with its first message, or neither. */
export function createThread(call: Call, input: NewThread) {
  const { state, me } = call;
  requireNotPaused(me);
  const others = requireParticipants(call, input.participants);
  if (!me.can_initiate_threads) {
    const message = 'This agent cannot start threads. Its owner can allow it.';
    throw new DomainError('CANNOT_INITIATE_THREADS', message);
  }
  for (const other of others) requireAdmission(me, other);
  const time = state.clock.now();
  const thread: Thread = {
    id: state.newId('thread'),
    subject: input.subject,
    status: 'active',
    created_by: me.id,
    created_by_handle: me.canonical_handle,
    metadata: input.metadata,
    members: [me, ...others]
      .sort((a, b) => (a.canonical_handle < b.canonical_handle ? -1 : 1))
      .map((agent) => newMember(agent, 0)),
    last_message_at: null,
    created_at: time,
    updated_at: time,
    messages: [],
    watched_by: [],
    activity: nextActivity(state),
  };
  const prepared = input.initial_message && prepareMessage(call, thread, input.initial_message);
  state.threads.set(thread.id, thread);
  emitToMembers(state, thread, 'thread.created', columnsOf(thread));
  return { thread, message: prepared && appendMessage(call, thread, prepared) };
}

const threadRef = z.strictObject({ thread_id: threadId });

export const threadHandlers = {
  create_thread: defineHandler(createThreadInput, (call, input) => {
    const { thread, message } = createThread(call, {
      participants: input.participants ?? [input.with_handle ?? ''],
      subject: input.subject || null,
      metadata: metadataOf(input),
      initial_message: toFirstMessage(input),
    });
    return { ...presentThread(thread, call.me), ...(message && { initial_message_id: message.id }) };
  }),
  list_threads: defineHandler(z.strictObject(listThreadsFields), (call, { limit, cursor, ...filter }) => {
    const { state, me } = call;
    const { status, with_handle, updated_since = 0, unread = false } = filter;
    const other = with_handle === undefined ? undefined : parseHandle(with_handle).canonical;
    const isListed = (thread: Thread) =>
      thread.members.some(({ id }) => id === me.id) &&
      (status === undefined ? thread.status !== 'archived' : thread.status === status) &&
      (other === undefined || thread.members.some((member) => member.canonical_handle === other)) &&
      thread.updated_at >= updated_since &&
      (!unread || countUnread(thread, me) > 0);
    const list = () => [...state.threads.values()].filter(isListed).sort((a, b) => b.activity - a.activity);
    const { rows, next_cursor } = readPage(call, { limit, cursor }, ['threads', filter], list);
    return { threads: rows.map((thread) => presentThread(thread, me)), next_cursor };
  }),
  get_thread: defineHandler(threadRef, (call, { thread_id }) =>
    presentThread(requireThread(call, thread_id), call.me),
  ),
  update_thread: defineHandler(updateThreadInput, (call, input) => {
    const thread = requireThread(call, input.thread_id);
    const { status = thread.status } = input;
    const subject = input.subject === undefined ? thread.subject : input.subject || null;
    if (status === thread.status && subject === thread.subject) return presentThread(thread, call.me);
    if (status !== thread.status && !canTransition(thread.status, status)) {
      const message = `A thread cannot go from ${thread.status} to ${status}; set it to active first.`;
      throw new DomainError('INVALID_TRANSITION', message);
    }
    if (subject !== thread.subject) requireMayWrite(call, thread);
    if (thread.status === 'active' && status !== 'active') endTasksOfThread(call, thread.id);
    Object.assign(thread, { status, subject, updated_at: call.state.clock.now() });
    emitToMembers(call.state, thread, 'thread.updated', columnsOf(thread));
    return presentThread(thread, call.me);
  }),
  add_thread_member: defineHandler(addThreadMemberInput, (call, { thread_id, handle: ref }) => {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const agent = requireAgent(call, ref);
    requireNotPaused(me);
    if (thread.members.some(({ id }) => id === agent.id)) return presentThread(thread, me);
    if (thread.status !== 'active')
      throw new DomainError('THREAD_CLOSED', `This thread is ${thread.status}; set it to active first.`);
    requireMayWrite(call, thread);
    requireAdmission(me, agent);
    if (thread.members.length >= maxMembers)
      throw new DomainError('VALIDATION_ERROR', `A thread can have ${maxMembers} members. Remove one first.`);
    thread.members.push(newMember(agent, thread.messages.length));
    thread.updated_at = state.clock.now();
    const data = { thread_id, member: toRef(agent), by: toRef(me), thread: columnsOf(thread) };
    emitToMembers(state, thread, 'thread.member_added', data);
    return presentThread(thread, me);
  }),
  remove_thread_member: defineHandler(removeThreadMemberInput, (call, { thread_id, member_ref }) => {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const id = toAgentId(state, member_ref);
    const before = thread.members;
    const member = before.find((one) => one.id === id);
    if (!member)
      throw new DomainError('AGENT_NOT_FOUND', `No such member of this thread: ${member_ref.slice(0, 80)}`);
    endTasksOfMember(call, thread_id, member.id);
    thread.members = before.filter((one) => one !== member);
    removeItemsOfThread(state.agents.get(member.id), thread_id);
    thread.updated_at = state.clock.now();
    const data = { thread_id, member: toRef(member), by: toRef(me), thread: columnsOf(thread) };
    emitToMembers(state, thread, 'thread.member_removed', data, before);
    return {};
  }),
  mark_read: defineHandler(markReadInput, (call, { thread_id, up_to_sequence }) => {
    const { state, me } = call;
    const thread = requireThread(call, thread_id);
    const member = thread.members.find(({ id }) => id === me.id);
    const mark = Math.min(up_to_sequence, thread.messages.length);
    if (!member || mark <= member.read_sequence) return {};
    member.read_sequence = mark;
    const data = { thread_id, agent: toRef(me), up_to_sequence: mark, read_at: state.clock.now() };
    emitToMembers(state, thread, 'message.read', data);
    return {};
  }),
  list_receipts: defineHandler(threadRef, (call, { thread_id }) => ({
    receipts: requireThread(call, thread_id).members.map((member) => {
      const delivered_sequence = Math.max(member.delivered_sequence, member.read_sequence);
      return presentReceipt({ ...member, delivered_sequence });
    }),
  })),
};

/** Every member sees the change, so it needs the rights of a message. */
function requireMayWrite(call: Call, thread: Thread): void {
  requireNotPaused(call.me);
  requireAudience(
    call.me,
    othersOf(call, thread).filter((other) => !other.is_retired),
    thread.created_by,
  );
}
