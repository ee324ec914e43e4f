import type * as Wire from '../../generated/inbox.ts';
import { z } from 'zod';
import { describeOpenTask } from '../../../../core/src/policies/tasks.ts';
import { relationshipOf } from '../../../../core/src/domain/agents/agents.ts';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import { consumerLifeMs, maxLeases } from '../../../../core/src/domain/inbox.ts';
import { canSeeEvent } from '../../../../core/src/events/feed-event.ts';
import type { EventType } from '../../../../core/src/events/list.ts';
import { pageFields } from '../../../../core/src/inputs/fields.ts';
import {
  acknowledgeMessageInput,
  acknowledgeMessagesInput,
  claimMessagesInput,
  deadItemId,
  releaseMessageInput,
  renewLeaseInput,
  setInboxInput,
  toReplyDraft,
} from '../../../../core/src/inputs/inbox.ts';
import { isObsolete } from '../../../../core/src/domain/withdrawals.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import { lastNumber, presentEvent, waitForEvents, wakeReaders } from '../core/feed.ts';
import {
  copyItems,
  endAttempt,
  endExpired,
  endLeases,
  findFree,
  findNewItems,
  moveHandledMark,
  openInbox,
  readPosition,
  findLease,
  requireLease,
} from '../core/inbox.ts';
import type { Agent, Inbox, InboxItem } from '../core/records.ts';
import { isOfCanceledTask, moveTask, startTasks, type TaskEffect } from '../core/tasks.ts';
import { type Call, defineHandler, requireValidToken } from '../core/state.ts';
import { relate, requireNotPaused } from './agents.ts';
import { type Draft, sendMessage } from './messages.ts';
import { readPage } from '../core/pages.ts';

const maxConsumers = 100;

/** @throws {DomainError} INBOX_NOT_FOUND */
function requireInbox({ inbox }: Agent): Inbox {
  if (inbox) return inbox;
  throw new DomainError('INBOX_NOT_FOUND', 'The inbox of this agent is off. Turn it on with PUT /v1/inbox.');
}

/** The inbox after the leases that have expired. @throws {DomainError} INBOX_NOT_FOUND */
function requireCurrentInbox({ state, me }: Call): Inbox {
  const inbox = requireInbox(me);
  endExpired(state, inbox);
  return inbox;
}

function presentInbox(call: Call): Wire.Inbox {
  const { state, me } = call;
  const inbox = requireCurrentInbox(call);
  const { types, lease_seconds, max_attempts, ordered_by_thread, created_at, updated_at } = inbox;
  const now = state.clock.now();
  const items = [...inbox.items, ...findNewItems(state, me, inbox)];
  const inState = (name: InboxItem['state']) => items.filter((item) => item.state === name);
  const ready = inState('ready').length;
  const held = inState('leased');
  const leased = held.filter(({ review_id }) => review_id === null);
  const times = [...inState('ready'), ...held].map(({ event }) => event.created_at);
  const oldest_age = times.length === 0 ? null : now - Math.min(...times);
  const in_review = held.length - leased.length;
  const counts = { ready, leased: leased.length, in_review, dead: inState('dead').length, oldest_age };
  const consumers = [...inbox.consumers]
    .filter(([, last_claim_at]) => last_claim_at > now - consumerLifeMs)
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, maxConsumers)
    .map(([name, last_claim_at]) => {
      const own = leased.filter(({ consumer }) => consumer === name);
      return { name, last_claim_at, leased: own.length };
    });
  const settings = { types, lease_seconds, max_attempts, ordered_by_thread };
  return { ...settings, ...counts, consumers, created_at, updated_at };
}

type Claim = z.infer<typeof claimMessagesInput>;

/** @throws {DomainError} INBOX_NOT_FOUND, INSUFFICIENT_SCOPE, AGENT_PAUSED, RATE_LIMITED */
function claim(call: Call, { max, lease_seconds, consumer = 'operator' }: Claim): InboxItem[] {
  const { state, me, scopes, token } = call;
  const inbox = openInbox(state, me) ?? requireInbox(me);
  if (!inbox.types.some((type) => canSeeEvent(scopes, type as EventType))) {
    const message = 'The token cannot see the events of this inbox.';
    throw new DomainError('INSUFFICIENT_SCOPE', message, { scope: 'threads:read' });
  }
  requireNotPaused(me);
  me.inbox = inbox;
  const now = state.clock.now();
  inbox.consumers.set(consumer, now);
  endExpired(state, inbox);
  const skipDropped = () => {
    inbox.items = inbox.items.filter(
      (item) =>
        item.state !== 'ready' || !(isOfCanceledTask(state, item) || isObsolete(item.event.message ?? {})),
    );
  };
  skipDropped();
  const leased = inbox.items.filter((item) => item.state === 'leased').length;
  const room = Math.min(max, maxLeases - leased);
  if (findFree(call, inbox).length < room) copyItems(state, me, inbox);
  skipDropped();
  const claimed = findFree(call, inbox).slice(0, room);
  const expires_at = now + (lease_seconds ?? inbox.lease_seconds) * 1_000;
  me.last_fencing_token = Math.max(me.last_fencing_token, claimed.length > 0 ? now : 0);
  for (const item of claimed) {
    me.last_fencing_token += 1;
    const lease = { fencing_token: me.last_fencing_token, lease_id: state.newId('lease'), expires_at };
    Object.assign(item, { state: 'leased', attempts: item.attempts + 1, ...lease, token });
    Object.assign(item, { consumer, review_id: null, updated_at: now });
    me.leases.set(lease.lease_id, item);
  }
  startTasks(call, claimed);
  if (claimed.length > 0 || room > 0) return claimed;
  const message = `An agent can have ${maxLeases} leases at a time. Acknowledge or release some.`;
  throw new DomainError('RATE_LIMITED', message, { retry_after: 1 });
}

const presentState = ({ lease_id, fencing_token, attempts: attempt, expires_at }: InboxItem) => ({
  id: lease_id,
  lease_id,
  fencing_token,
  attempt,
  expires_at,
});

/** The core presents the event. */
type WithEvent<Item> = Omit<Item, 'event'> & { event: object };

function presentLease({ state, me }: Call, item: InboxItem): WithEvent<Wire.Lease> {
  const { event, number } = item;
  const sender = event.message && state.agents.get(event.message.sender_id);
  const relationship = sender ? { relationship: relationshipOf(relate(me, sender)) } : {};
  const task = state.tasks.get(item.task_id ?? '');
  const note = task?.message_id === event.message?.id && task && describeOpenTask(task);
  return {
    ...presentState(item),
    ...relationship,
    ...(note && { task_note: note }),
    event: presentEvent(me, event, number),
  };
}

function presentDead({ me }: Call, item: InboxItem): WithEvent<Wire.DeadItem> {
  const { event, number, attempts, reasons, updated_at: dead_at } = item;
  return { id: event.id, attempts, reasons, dead_at, event: presentEvent(me, event, number) };
}

/** @throws {DomainError} INBOX_NOT_FOUND, NOT_FOUND */
function requireDead(call: Call, id: string): InboxItem {
  const found = requireCurrentInbox(call).items.find((item) => item.state === 'dead' && item.event.id === id);
  if (found) return found;
  throw new DomainError('NOT_FOUND', 'The inbox has no such dead item.');
}

/** The item leaves the inbox; one of a message waits for the handled mark of its thread. */
function finish({ state, me }: Call, item: InboxItem): void {
  const inbox = requireInbox(me);
  const { thread_id } = item.event;
  item.state = 'handled';
  if (item.sequence === null || thread_id === null)
    inbox.items = inbox.items.filter((other) => other !== item);
  else moveHandledMark(state, me, thread_id);
  wakeReaders(me);
}

function sendReply(call: Call, { event }: InboxItem, draft: Draft, effect: TaskEffect) {
  const { thread_id, message } = event;
  if (thread_id === null) throw wrongField('reply', 'the event of this lease belongs to no thread');
  const reply_to = draft.reply_to ?? message?.id ?? null;
  return sendMessage(call, thread_id, { ...draft, reply_to }, effect);
}

const noInput = z.strictObject({});
const itemRef = z.strictObject({ item_id: deadItemId });

export const inboxHandlers = {
  set_inbox: defineHandler(setInboxInput, (call, { from, ...settings }) => {
    const { me, state } = call;
    const now = state.clock.now();
    const position = from === undefined && me.inbox ? me.inbox.position : readPosition(me, from ?? 'now');
    const empty = { items: [], consumers: new Map<string, number>(), created_at: now };
    me.inbox = { ...empty, ...me.inbox, ...settings, position, updated_at: now };
    wakeReaders(me);
    return presentInbox(call);
  }),
  get_inbox: defineHandler(noInput, presentInbox),
  delete_inbox: defineHandler(noInput, ({ state, me }) => {
    requireInbox(me);
    endLeases(state, me);
    me.inbox = null;
    me.has_deleted_inbox = true;
    wakeReaders(me);
    return {};
  }),
  claim_messages: defineHandler(claimMessagesInput, async (call, input) => {
    const { me, state, token, signal } = call;
    const deadline = Date.now() + input.wait_seconds * 1_000;
    let items = claim(call, input);
    while (items.length === 0 && Date.now() < deadline && !signal.aborted) {
      await waitForEvents(me, lastNumber(me), deadline - Date.now(), signal);
      requireValidToken(state, token);
      if (!signal.aborted) items = claim(call, input);
    }
    return { leases: items.map((item) => presentLease(call, item)) };
  }),
  renew_lease: defineHandler(renewLeaseInput, (call, { lease_id, lease_seconds }) => {
    const item = requireLease(call, lease_id);
    item.expires_at = call.state.clock.now() + lease_seconds * 1_000;
    return presentState(item);
  }),
  acknowledge_message: defineHandler(
    acknowledgeMessageInput,
    (call, { lease_id, reply, task_state: state }) => {
      const item = requireLease(call, lease_id);
      const message = reply === undefined ? null : sendReply(call, item, toReplyDraft(reply), { state });
      finish(call, item);
      return { message: message && presentMessage(message) };
    },
  ),
  acknowledge_messages: defineHandler(acknowledgeMessagesInput, (call, { ids }) => {
    const results = ids.map((id) => {
      if (!call.me.leases.has(id)) return { id, result: 'not_found' };
      const item = findLease(call, id);
      if (item) finish(call, item);
      return { id, result: item ? 'acknowledged' : 'lost' };
    });
    return { results };
  }),
  release_message: defineHandler(releaseMessageInput, (call, { lease_id, delay_seconds, reason }) => {
    const { me, state } = call;
    const item = requireLease(call, lease_id);
    const now = state.clock.now();
    const ready_at = now + delay_seconds * 1_000;
    endAttempt(state, item, requireInbox(me), { outcome: 'released', reason: reason ?? null, now, ready_at });
    wakeReaders(me);
    return { state: item.state, attempts: item.attempts, ready_at };
  }),
  list_dead_items: defineHandler(z.strictObject(pageFields(100, 50)), (call, page) => {
    const { items } = requireCurrentInbox(call);
    const list = () =>
      items.filter(({ state, event }) => state === 'dead' && canSeeEvent(call.scopes, event.type));
    const { rows, next_cursor } = readPage(call, page, ['dead'], list);
    return { items: rows.map((item) => presentDead(call, item)), next_cursor };
  }),
  redrive_dead_item: defineHandler(itemRef, (call, { item_id }) => {
    const now = call.state.clock.now();
    Object.assign(requireDead(call, item_id), {
      state: 'ready',
      attempts: 0,
      ready_at: now,
      updated_at: now,
    });
    wakeReaders(call.me);
    return {};
  }),
  delete_dead_item: defineHandler(itemRef, (call, { item_id }) => {
    const item = requireDead(call, item_id);
    const task = call.state.tasks.get(item.task_id ?? '');
    if (task) moveTask(call.state, task, 'fail', { by: null });
    finish(call, item);
    return {};
  }),
};
