import { type AgentState, countUnread, type ReceiptMarks, type Thread } from './state.ts';

/** An event from any transport. */
export interface FeedEvent {
  type: string;
  // Every event is held to its description where it is received.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

/**
 * How to follow a feed: takes an event into the state. Take a cursor first, read the state, then fold the events after the cursor,
 * in order. Events that the state has already, because it was read later or because they come twice, change nothing for good.
 */
export function applyEvent(state: AgentState, { type, data }: FeedEvent): void {
  switch (type) {
    case 'thread.created':
      if (!state.threads.has(data.id)) addThread(state, data);
      break;
    case 'thread.updated':
      replaceThread(state, data);
      break;
    case 'thread.member_added':
      applyMemberAdded(state, data);
      break;
    case 'thread.member_removed':
      applyMemberRemoved(state, data);
      break;
    case 'message.created':
      applyMessageCreated(state, data);
      break;
    case 'message.read':
      applyMessageRead(state, data);
      break;
    case 'message.delivered':
      for (const { id, up_to_sequence } of data.members) {
        advanceReceipts(state, data.thread_id, id, { delivered: up_to_sequence });
      }
      break;
    case 'message.handled':
      advanceReceipts(state, data.thread_id, data.agent.id, { handled: data.up_to_sequence });
      break;
    case 'contact.added':
      state.contacts.set(data.agent_id, data);
      break;
    case 'contact.updated':
      // Only what has changed is there.
      if (state.contacts.has(data.agent_id)) {
        state.contacts.set(data.agent_id, { ...state.contacts.get(data.agent_id), ...data });
      }
      break;
    case 'contact.removed':
      state.contacts.delete(data.agent_id);
      break;
    case 'agent.updated':
      if (data.id === state.me) state.profile = data;
      break;
    default:
    // A type of a later version, or one that is no part of this state.
  }
}

/** A thread that is new to this agent, none of whose messages are unread. */
function addThread(state: AgentState, thread: Thread): void {
  state.threads.set(thread.id, { ...thread, unread_count: 0 });
  const marks = { delivered: thread.last_sequence, read: thread.last_sequence, handled: 0 };
  // Of a thread with a past nothing is known but one's own marks; the others are read from its receipts.
  const known = thread.last_sequence === 0 ? thread.members.map(({ id }) => id) : [state.me];
  state.receipts.set(thread.id, new Map(known.map((id) => [id, { ...marks }])));
  state.senders.set(thread.id, new Map());
}

/** The thread as it is now. One that was written in since then is known better already. */
function replaceThread(state: AgentState, thread: Thread): void {
  const known = state.threads.get(thread.id);
  if (!known || thread.last_sequence < known.last_sequence) return;
  state.threads.set(thread.id, { ...thread, unread_count: countUnread(state, thread.id) });
}

function applyMemberAdded(
  state: AgentState,
  { member, thread }: { member: { id: string }; thread: Thread },
): void {
  if (member.id === state.me) {
    if (!state.threads.has(thread.id)) addThread(state, thread);
    return;
  }
  replaceThread(state, thread);
  const { last_sequence } = thread;
  state.receipts
    .get(thread.id)
    ?.set(member.id, { delivered: last_sequence, read: last_sequence, handled: 0 });
}

function applyMemberRemoved(
  state: AgentState,
  { member, thread }: { member: { id: string }; thread: Thread },
): void {
  replaceThread(state, thread);
  state.receipts.get(thread.id)?.delete(member.id);
  if (member.id !== state.me) return;
  state.threads.delete(thread.id);
  state.receipts.delete(thread.id);
  state.senders.delete(thread.id);
}

interface Message {
  thread_id: string;
  sender: { id: string };
  sequence: number;
  created_at: number;
}

function applyMessageCreated(state: AgentState, { thread_id, sender, sequence, created_at }: Message): void {
  const thread = state.threads.get(thread_id);
  if (!thread || sequence <= thread.last_sequence) return;
  const senders = state.senders.get(thread_id) ?? new Map<number, string>();
  state.senders.set(thread_id, senders.set(sequence, sender.id));
  // A message moves the read mark of its sender, unless a message of others is unread before it.
  const read = state.receipts.get(thread_id)?.get(sender.id)?.read ?? sequence;
  const isOwn = (earlier: number) =>
    earlier >= sequence || earlier <= read || senders.get(earlier) === sender.id;
  if ([...senders.keys()].every(isOwn))
    advanceReceipts(state, thread_id, sender.id, { delivered: sequence, read: sequence });
  state.threads.set(thread_id, {
    ...thread,
    last_sequence: sequence,
    last_message_at: created_at,
    updated_at: Math.max(thread.updated_at, created_at),
    unread_count: countUnread(state, thread_id),
  });
}

interface Read {
  thread_id: string;
  agent: { id: string };
  up_to_sequence: number;
}

function applyMessageRead(state: AgentState, { thread_id, agent, up_to_sequence }: Read): void {
  advanceReceipts(state, thread_id, agent.id, { delivered: up_to_sequence, read: up_to_sequence });
  const thread = state.threads.get(thread_id);
  if (!thread || agent.id !== state.me) return;
  state.threads.set(thread_id, { ...thread, unread_count: countUnread(state, thread_id) });
}

/** Marks only move forward. */
function advanceReceipts(
  { receipts }: AgentState,
  thread_id: string,
  agent_id: string,
  { delivered = 0, read = 0, handled = 0 }: Partial<ReceiptMarks>,
): void {
  const marks = receipts.get(thread_id)?.get(agent_id);
  if (!marks) return;
  marks.delivered = Math.max(marks.delivered, delivered);
  marks.read = Math.max(marks.read, read);
  marks.handled = Math.max(marks.handled, handled);
}
