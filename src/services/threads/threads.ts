import type { AgentRow, SeenAgentRow } from '../../repositories/agents/agents.ts';
import type { ThreadRow } from '../../repositories/threads/threads.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { AgentScope } from '../../../packages/core/src/domain/agents/agents.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { canTransition, type ThreadStatus } from '../../../packages/core/src/domain/threads.ts';
import { checkInboundPolicy } from '../../../packages/core/src/policies/inbound.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireReviewed } from '../approvals/outgoing.ts';
import { requireAgents, requireThread } from '../access.ts';
import { endTasksOfThread } from '../tasks/transitions.ts';
import { requireActingAgent, requireActiveActor, requirePoliciesAllowChange } from '../actor-checks.ts';
import { type NewMessage, sendMessage } from '../messages/send.ts';

export interface CreateThread {
  /** Handles or ids of the other members, at least one. */
  participants: readonly string[];
  subject: string | null;
  metadata: Record<string, unknown>;
  initial_message: Omit<NewMessage, 'thread_id'> | null;
}

/**
 * Creates a thread and sends its first message, if there is one: both or neither.
 * @param found the members, as `findMembers` returned them in the same transaction
 * @throws {DomainError} AGENT_PAUSED, CANNOT_INITIATE_THREADS, VALIDATION_ERROR (the actor itself, or an agent named twice),
 * AGENT_NOT_FOUND, INVALID_HANDLE, the refusals of the participants' inbound policies, and those of `sendMessage`
 */
export async function createThread(work: Work, input: CreateThread, found?: NewMembers) {
  const { creator, others } = found ?? (await requireMembers(work, input.participants));
  await requireReviewed(work, creator.outgoing_policy, { agents: others.map(({ id }) => id) });
  // In the order in which threads are read: by time of joining, then by handle.
  const members = [creator, ...others]
    .map(({ id, canonical_handle }) => ({ id, canonical_handle }))
    .sort((a, b) => (a.canonical_handle < b.canonical_handle ? -1 : 1));
  const member_ids = members.map((member) => member.id);
  const thread: ThreadRow = {
    id: newId('thread'),
    subject: input.subject,
    status: 'active',
    created_by: creator.id,
    created_by_handle: creator.canonical_handle,
    metadata: input.metadata,
    last_sequence: 0,
    last_message_at: null,
    created_at: work.now,
    updated_at: work.now,
    members,
    unread_count: 0,
    watched_by: [],
  };
  work.changes.defer(work.db.threads.insert({ ...thread, member_ids }));
  const remote = [creator, ...others].find(isRemote);
  if (remote)
    work.changes.defer(work.db.remoteThreads.insert({ thread_id: thread.id, agent_id: remote.id }, work.now));
  work.changes.emit({
    type: 'thread.created',
    thread_id: thread.id,
    recipients: member_ids,
    data: {
      ...toThreadEventData(thread),
      unread_count: 0,
    },
  });
  if (!input.initial_message) return { thread };
  const sent = await sendMessage(work, { ...input.initial_message, thread_id: thread.id });
  const { id: initial_message_id, sequence, created_at } = sent;
  return {
    thread: { ...thread, last_sequence: sequence, last_message_at: created_at, updated_at: created_at },
    initial_message_id,
    message: sent,
  };
}

/** The members of a new thread, who may be in it. */
export interface NewMembers {
  creator: AgentRow;
  others: SeenAgentRow[];
}

/** The members of a new thread. @throws {DomainError} as `createThread` */
async function requireMembers(work: Work, participants: readonly string[]): Promise<NewMembers> {
  const [creator, others] = await Promise.all([requireActingAgent(work), requireAgents(work, participants)]);
  if (!creator.can_initiate_threads) {
    throw new DomainError(
      'CANNOT_INITIATE_THREADS',
      'This agent cannot start threads. Its owner can allow it.',
    );
  }
  requireDistinctMembers(others, creator.id);
  if (others.length > 1 && [creator, ...others].some(isRemote)) throw remoteInGroup();
  for (const other of others) {
    const refusal = checkInboundPolicy(other, other);
    if (refusal) throw refusal;
  }
  await requireBound(work, [creator, ...others]);
  return { creator, others };
}

/**
 * An agent of another installation talks with the agent of its invitation only: there, all messages are those of that one.
 * @throws {DomainError} NOT_ALLOWED
 */
async function requireBound(
  { db }: Work,
  members: readonly { id: string; canonical_handle: string; scope: AgentScope }[],
): Promise<void> {
  for (const { id, canonical_handle } of members.filter(isRemote)) {
    const bound = await db.remoteAgents.findBound(id);
    if (!bound || members.some((member) => member.id === bound)) continue;
    const message = `${canonical_handle} talks only with the agent that its invitation connected it with.`;
    throw new DomainError('NOT_ALLOWED', message);
  }
}

/** Whether an agent belongs to another system. */
export const isRemote = ({ scope }: { scope: AgentScope }): boolean => scope === 'remote';

/** The refusal of a thread in which a remote agent would be one of several. */
export function remoteInGroup(): DomainError {
  const message = 'An agent of another system talks with one agent at a time. Open a thread with it alone.';
  return new DomainError('VALIDATION_ERROR', message);
}

/** The members of a new thread with this agent, or the error that `createThread` would throw now. */
export async function findMembers(work: Work, participant: string): Promise<NewMembers | DomainError> {
  try {
    return await requireMembers(work, [participant]);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** A thread as events store it: without what differs from member to member. */
export function toThreadEventData(thread: ThreadRow): object {
  const { unread_count: _count, ...data } = thread;
  return data;
}

function requireDistinctMembers(others: { id: string; canonical_handle: string }[], self: string): void {
  const ids = others.map((other) => other.id);
  const again = others.find((other, index) => other.id === self || ids.indexOf(other.id) < index);
  if (!again) return;
  const reason = again.id === self ? 'is you' : 'is named twice';
  throw new DomainError(
    'VALIDATION_ERROR',
    `${again.canonical_handle} ${reason}; name each other member once, in with_handle or participants.`,
  );
}

export interface UpdateThread {
  thread_id: string;
  status?: ThreadStatus | undefined;
  subject?: string | null | undefined;
}

/**
 * Changes status or subject; without a change there is no event. Every member sees the subject, so changing it needs the same rights as
 * sending a message.
 * @throws {DomainError} THREAD_NOT_FOUND, INVALID_TRANSITION; for the subject also the refusals of a message of the actor
 */
export async function updateThread(work: Work, input: UpdateThread) {
  const thread = await requireThread(work, input.thread_id, { lock: true });
  const status = input.status ?? thread.status;
  const subject = input.subject === undefined ? thread.subject : input.subject || null;
  if (status === thread.status && subject === thread.subject) return thread;
  if (status !== thread.status && !canTransition(thread.status, status)) {
    throw new DomainError(
      'INVALID_TRANSITION',
      `A thread cannot go from ${thread.status} to ${status}; set it to active first.`,
    );
  }
  if (subject !== thread.subject) {
    await requireActiveActor(work);
    await requirePoliciesAllowChange(work, thread);
  }
  if (thread.status === 'active' && status !== 'active') await endTasksOfThread(work, thread.id);
  const updated = { ...thread, status, subject, updated_at: Math.max(thread.updated_at, work.now) };
  await work.db.threads.update(updated);
  work.changes.emit({
    type: 'thread.updated',
    thread_id: thread.id,
    recipients: thread.members.map((member) => member.id),
    data: toThreadEventData(updated),
  });
  return updated;
}
