import type { ThreadRow } from '../../repositories/threads/threads.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { checkInboundPolicy } from '../../../packages/core/src/policies/inbound.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { endTasksOfMember } from '../tasks/transitions.ts';
import { removeItemsOfThread } from '../inbox/end-leases.ts';
import { parseAgentKey, requireAgents, requireThread } from '../access.ts';
import { requireActiveActor, requirePoliciesAllowChange } from '../actor-checks.ts';
import { isRemote, remoteInGroup, toThreadEventData } from './threads.ts';
import { endWatchLinksOfMember } from './watch-links.ts';

type Member = ThreadRow['members'][number];

const maxMembers = 256;

/**
 * Adds an agent to an active thread. It can read the history; only later messages are unread. Adding a member again changes nothing and
 * emits no event.
 * @throws {DomainError} THREAD_NOT_FOUND, THREAD_CLOSED, AGENT_NOT_FOUND, INVALID_HANDLE, AGENT_PAUSED, VALIDATION_ERROR (the
 * thread is full, or a context of A2A), and the refusals of the agent's inbound policy and of members' policies for a message of the actor
 */
export async function addMember(
  work: Work,
  input: { thread_id: string; handle: string },
): Promise<ThreadRow> {
  const thread = await requireThread(work, input.thread_id, { lock: true });
  const [[agent]] = await Promise.all([requireAgents(work, [input.handle]), requireActiveActor(work)]);
  if (!agent || thread.members.some(({ id }) => id === agent.id)) return thread;
  if (thread.status !== 'active') {
    throw new DomainError('THREAD_CLOSED', `This thread is ${thread.status}; set it to active first.`);
  }
  await requirePoliciesAllowChange(work, thread, [agent.id]);
  const refusal = checkInboundPolicy(agent, agent);
  if (refusal) throw refusal;
  if (thread.members.length >= maxMembers) {
    throw new DomainError('VALIDATION_ERROR', `A thread can have ${maxMembers} members. Remove one first.`);
  }
  if (isRemote(agent) || (await work.db.remoteThreads.isRemote(thread.id))) throw remoteInGroup();
  if (await work.db.a2aMessages.isContext(thread.id)) {
    const message = 'This thread is a context of A2A, which has two members. Open another thread.';
    throw new DomainError('VALIDATION_ERROR', message);
  }
  await work.db.threadMembers.insert({
    thread_id: thread.id,
    agent_id: agent.id,
    read_sequence: thread.last_sequence,
    joined_at: work.now,
    by_id: work.actor.agent_id,
  });
  const member = { id: agent.id, canonical_handle: agent.canonical_handle };
  const changed = await changeMembers(work, thread, [...thread.members, member]);
  work.changes.emit({
    type: 'thread.member_added',
    thread_id: thread.id,
    recipients: changed.members.map(({ id }) => id),
    data: { thread_id: thread.id, member, by: toActorRef(work), thread: toThreadEventData(changed) },
  });
  return changed;
}

/**
 * Removes a member from a thread, the actor or another one. It keeps the events in its feed and receives no further ones. The thread's items
 * leave its inbox, because it can no longer answer them.
 * @param input.member_ref id or handle, also of a retired agent.
 * @throws {DomainError} THREAD_NOT_FOUND, AGENT_NOT_FOUND (not a member of this thread), INVALID_HANDLE
 */
export async function removeMember(
  work: Work,
  input: { thread_id: string; member_ref: string },
): Promise<void> {
  const thread = await requireThread(work, input.thread_id, { lock: true });
  const key = parseAgentKey(input.member_ref);
  const member = thread.members.find(({ id, canonical_handle }) => id === key || canonical_handle === key);
  if (!member) {
    throw new DomainError(
      'AGENT_NOT_FOUND',
      `No such member of this thread: ${input.member_ref.slice(0, 80)}`,
    );
  }
  await endTasksOfMember(work, thread.id, member.id);
  await work.db.threadMembers.remove(thread.id, member.id, work.actor.agent_id);
  await removeItemsOfThread(work, { agent_id: member.id, thread_id: thread.id });
  const watched_by = await endWatchLinksOfMember(work, thread, member);
  const changed = await changeMembers(
    work,
    { ...thread, watched_by },
    thread.members.filter(({ id }) => id !== member.id),
  );
  work.changes.emit({
    type: 'thread.member_removed',
    thread_id: thread.id,
    recipients: thread.members.map(({ id }) => id),
    data: { thread_id: thread.id, member, by: toActorRef(work), thread: toThreadEventData(changed) },
  });
}

/**
 * Moves the actor's read mark forward, never back and never beyond the latest message. All members receive an event if it moved.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function markRead(
  work: Work,
  input: { thread_id: string; up_to_sequence: number },
): Promise<void> {
  // Locked, so that no removed member receives the event.
  const thread = await requireThread(work, input.thread_id, { lock: true });
  const agent = toActorRef(work);
  const mark = await work.db.threadMembers.markRead(thread.id, agent.id, input.up_to_sequence);
  if (mark === undefined) return;
  work.changes.emit({
    type: 'message.read',
    thread_id: thread.id,
    recipients: thread.members.map(({ id }) => id),
    data: { thread_id: thread.id, agent, up_to_sequence: mark, read_at: work.now },
  });
}

async function changeMembers(work: Work, thread: ThreadRow, members: Member[]): Promise<ThreadRow> {
  const changed = { ...thread, members, updated_at: Math.max(thread.updated_at, work.now) };
  await work.db.threads.update(changed);
  return changed;
}

function toActorRef({ actor }: Work): Member {
  return { id: actor.agent_id, canonical_handle: actor.handle };
}
