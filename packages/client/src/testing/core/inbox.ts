import { DomainError } from '../../../../core/src/domain/errors.ts';
import { defaultInbox } from '../../../../core/src/domain/inbox.ts';
import { isObsolete } from '../../../../core/src/domain/withdrawals.ts';
import { canSeeEvent } from '../../../../core/src/events/feed-event.ts';
import { returnTasks } from './tasks.ts';
import { decodeCursor, emit, lastNumber, wakeReaders } from './feed.ts';
import type { Agent, AgentRef, Approval, Inbox, InboxItem, Message, StoredEvent, Thread } from './records.ts';
import type { Call, State } from './state.ts';

/** Whether the item waits for an acknowledgement. */
const isOpen = ({ state }: InboxItem): boolean => state !== 'handled';

/** Who caused an event. */
function causeOf({ message, data }: StoredEvent): string | undefined {
  const { created_by, by, from } = (data ?? {}) as { created_by?: string; by?: AgentRef; from?: AgentRef };
  return message?.sender_id ?? created_by ?? by?.id ?? from?.id;
}

/** The items that the feed has for an inbox after its position, and that were not copied yet. */
export function findNewItems(state: State, agent: Agent, inbox: Inbox): InboxItem[] {
  const { events, removed } = agent.feed;
  const known = new Set(inbox.items.map(({ number }) => number));
  const isMember = (id: string) =>
    state.threads.get(id)?.members.some((member) => member.id === agent.id) === true;
  return events.flatMap((event, index): InboxItem[] => {
    const number = removed + index + 1;
    const { type, thread_id, message } = event;
    const isWanted =
      number > inbox.position &&
      !known.has(number) &&
      inbox.types.includes(type) &&
      !isObsolete(message ?? {}) &&
      causeOf(event) !== agent.id &&
      (thread_id === null || type === 'thread.member_removed' || isMember(thread_id));
    if (!isWanted) return [];
    const task = state.tasks.get(state.taskOfMessage.get(message?.id ?? '') ?? '');
    // Only the asked agent works on it.
    const task_id = task?.agent_id === agent.id ? task.id : null;
    const sequence = message?.sequence ?? null;
    return [{ number, event, sequence, task_id, state: 'ready', ...unclaimed() }];
  });
}

const unclaimed = () => ({
  attempts: 0,
  fencing_token: 0,
  lease_id: '',
  review_id: null,
  ready_at: 0,
  expires_at: 0,
  consumer: null,
  token: '',
  reasons: [],
  updated_at: 0,
});

/** Copies all items that the feed has. */
export function copyItems(state: State, agent: Agent, inbox: Inbox): void {
  inbox.items.push(...findNewItems(state, agent, inbox));
  inbox.items.sort((a, b) => a.number - b.number);
  inbox.position = Math.max(inbox.position, lastNumber(agent));
}

/** Records that an attempt ended without an acknowledgement: the item is ready at a time, or dead after the last attempt. */
export function endAttempt(
  state: State,
  item: InboxItem,
  { max_attempts }: Inbox,
  attempt: { outcome: 'released' | 'expired'; reason: string | null; now: number; ready_at: number },
): void {
  const { outcome, reason, now: ended_at, ready_at } = attempt;
  returnTasks(state, [item]);
  item.reasons.push({ attempt: item.attempts, outcome, reason, consumer: item.consumer, ended_at });
  const next = item.attempts >= max_attempts ? 'dead' : 'ready';
  Object.assign(item, { state: next, ready_at, updated_at: ended_at });
}

/** The lease of a reply lasts as long as its review. */
export function holdLease(agent: Agent, { id: review_id, expires_at }: Approval, input: object): void {
  const item = agent.leases.get((input as { lease_id: string }).lease_id);
  if (item) Object.assign(item, { review_id, expires_at });
}

/** After a denial the item of the reply is ready again, with the reason. */
export function returnHeld(state: State, { agent, id, reason: text }: Approval): void {
  const { inbox } = agent;
  const item = inbox?.items.find((each) => each.state === 'leased' && each.review_id === id);
  if (!inbox || !item) return;
  const now = state.clock.now();
  const reason = `A person rejected the reply.${text === null ? '' : ` ${text}`}`;
  endAttempt(state, item, inbox, { outcome: 'released', reason, now, ready_at: now });
}

/** Ends leases that have expired. */
export function endExpired(state: State, inbox: Inbox): void {
  const now = state.clock.now();
  for (const item of inbox.items)
    if (item.state === 'leased' && item.expires_at <= now)
      endAttempt(state, item, inbox, {
        outcome: 'expired',
        reason: null,
        now: item.expires_at,
        ready_at: now,
      });
}

/** Ends leases of an agent that was paused, or of a token that was revoked. The attempts do not count. */
export function endLeases(state: State, agent: Agent, token?: string): void {
  for (const item of agent.inbox?.items ?? []) {
    if (item.state !== 'leased' || (token !== undefined && item.token !== token)) continue;
    returnTasks(state, [item]);
    Object.assign(item, { state: 'ready', attempts: item.attempts - 1, ready_at: state.clock.now() });
  }
}

/** The oldest items that are free, of types that the token sees. */
export function findFree({ scopes, state }: Call, inbox: Inbox): InboxItem[] {
  const now = state.clock.now();
  const { items, ordered_by_thread } = inbox;
  const leased = new Set(
    items.flatMap((item) => (item.state === 'leased' ? (item.event.thread_id ?? []) : [])),
  );
  const waiting = new Set<string>();
  return items.filter((item) => {
    const { event } = item;
    if (item.state !== 'ready') return false;
    const isBehind =
      event.thread_id !== null && (waiting.has(event.thread_id) || leased.has(event.thread_id));
    if (event.thread_id !== null) waiting.add(event.thread_id);
    return item.ready_at <= now && canSeeEvent(scopes, event.type) && !(ordered_by_thread && isBehind);
  });
}

/**
 * Moves the handled mark of a thread: before the first message that is not handled, else to the last handled one. Handled messages count as
 * read.
 */
export function moveHandledMark(state: State, agent: Agent, threadId: string): void {
  const thread = state.threads.get(threadId);
  const member = thread?.members.find(({ id }) => id === agent.id);
  const { inbox } = agent;
  if (!thread || !member || !inbox) return;
  const items = inbox.items.filter(
    ({ event, sequence }) => event.thread_id === threadId && sequence !== null,
  );
  const sequences = (isWanted: (item: InboxItem) => boolean) =>
    items.filter(isWanted).map(({ sequence }) => sequence ?? 0);
  const open = sequences(isOpen);
  const mark = open.length > 0 ? Math.min(...open) - 1 : Math.max(0, ...sequences((item) => !isOpen(item)));
  inbox.items = inbox.items.filter(
    (item) => !items.includes(item) || isOpen(item) || (item.sequence ?? 0) > mark,
  );
  const { id, canonical_handle } = agent;
  const about = { thread_id: threadId, recipients: thread.members.map((one) => one.id) };
  const data = { thread_id: threadId, agent: { id, canonical_handle }, up_to_sequence: mark };
  const now = state.clock.now();
  const { read_sequence, handled_sequence } = member;
  member.read_sequence = Math.max(read_sequence, mark);
  member.handled_sequence = Math.max(handled_sequence, mark);
  if (mark > read_sequence) emit(state, { type: 'message.read', ...about, data: { ...data, read_at: now } });
  if (mark > handled_sequence)
    emit(state, { type: 'message.handled', ...about, data: { ...data, handled_at: now } });
}

/** Removes the items of a thread from the inbox of an agent that is no longer its member. */
export function removeItemsOfThread(agent: Agent | undefined, threadId: string): void {
  if (!agent?.inbox) return;
  agent.inbox.items = agent.inbox.items.filter(({ event }) => event.thread_id !== threadId);
}

/** Removes a message from the inboxes of the members. An item with a lease stays until that ends. */
export function removeFromInboxes(state: State, message: Message, { members }: Thread): void {
  for (const { id } of members) {
    const agent = state.agents.get(id);
    if (!agent?.inbox) continue;
    agent.inbox.items = agent.inbox.items.filter(
      ({ event, state: at }) => event.message !== message || at === 'leased' || at === 'handled',
    );
    wakeReaders(agent);
  }
}

/** Removes the items with the events of a feed, and tells the agent how many were not acknowledged. */
export function expireItems(state: State, agent: Agent): void {
  const { inbox } = agent;
  if (!inbox) return;
  copyItems(state, agent, inbox);
  const count = inbox.items.filter(isOpen).length;
  inbox.items = [];
  if (count === 0) return;
  const data = { count, expired_at: state.clock.now() };
  emit(state, { type: 'inbox.expired', recipients: [agent.id], data });
}

/** The inbox for a claim of an agent: turned on if the agent never had one; null after it was turned off. */
export function openInbox(state: State, agent: Agent): Inbox | null {
  if (agent.inbox || agent.has_deleted_inbox) return agent.inbox;
  const now = state.clock.now();
  const position = agent.feed.acknowledged ?? findOldestUnread(state, agent) ?? lastNumber(agent);
  const times = { created_at: now, updated_at: now };
  return { ...defaultInbox, position, items: [], consumers: new Map(), ...times };
}

/** The position before the oldest message of others that the agent has not read. */
function findOldestUnread(state: State, agent: Agent): number | undefined {
  const { events, removed } = agent.feed;
  const readMark = (id: string | null) =>
    state.threads.get(id ?? '')?.members.find((member) => member.id === agent.id)?.read_sequence;
  const index = events.findIndex(({ message, thread_id }) => {
    const mark = message && message.sender_id !== agent.id ? readMark(thread_id) : undefined;
    return mark !== undefined && message !== null && message.sequence > mark;
  });
  return index < 0 ? undefined : removed + index;
}

/** The position from which an inbox begins: `now`, `earliest` or a cursor. @throws {ServiceError} INVALID_CURSOR */
export function readPosition(agent: Agent, from: string): number {
  if (from === 'now') return lastNumber(agent);
  if (from === 'earliest') return agent.feed.removed;
  return Math.min(decodeCursor(agent, from), lastNumber(agent));
}

/** The item of a current lease of the caller. */
export function findLease({ state, me }: Call, id: string): InboxItem | undefined {
  const item = me.leases.get(id);
  const isCurrent = item?.state === 'leased' && item.lease_id === id && item.expires_at > state.clock.now();
  return isCurrent && me.inbox?.items.includes(item) === true ? item : undefined;
}

/** @throws {DomainError} LEASE_NOT_FOUND when the agent never had the lease, LEASE_LOST when it has ended */
export function requireLease(call: Call, id: string): InboxItem {
  if (!call.me.leases.has(id)) throw new DomainError('LEASE_NOT_FOUND', 'Your agent has no such lease.');
  const item = findLease(call, id);
  if (item) return item;
  const message =
    'This lease has ended: it expired, was acknowledged or released, or its token, agent or thread ended it. Nothing was written; claim again.';
  throw new DomainError('LEASE_LOST', message);
}
