import { DomainError } from '../../../../core/src/domain/errors.ts';
import { canSeeEvent } from '../../../../core/src/events/feed-event.ts';
import type { EventType } from '../../../../core/src/events/list.ts';
import { isNews } from '../../../../core/src/events/news.ts';
import { presentEvent as presentColumns } from '../../../../core/src/events/present-event.ts';
import type { Agent, Message, StoredEvent } from './records.ts';
import type { State } from './state.ts';

export interface NewEvent {
  type: EventType;
  thread_id?: string | null;
  message?: Message;
  data?: object;
  /** Ids of the agents that get it. */
  recipients: Iterable<string>;
}

export interface EventPage {
  events: StoredEvent[];
  /** The numbers of the events. */
  numbers: number[];
  position: number;
  complete: boolean;
  gap: boolean;
}

/** Appends an event to the feed of every recipient. */
export function emit(state: State, event: NewEvent): void {
  const { type, thread_id = null, message = null, data = null, recipients } = event;
  const id = state.newId('event');
  const stored: StoredEvent = { type, id, created_at: state.clock.now(), thread_id, message, data };
  const agents = [...new Set(recipients)].flatMap((agentId) => state.agents.get(agentId) ?? []);
  for (const { feed } of agents) feed.events.push(stored);
  // After all feeds have it: a listener can cause further events.
  for (const { feed } of agents) for (const listener of feed.listeners) listener();
}

/** The number of the last event. */
export const lastNumber = ({ feed }: Agent): number => feed.removed + feed.events.length;

/** The cursor after the event with this number. */
export const encodeCursor = ({ id }: Agent, number: number): string =>
  Buffer.from(`${id}:${number}`).toString('base64url');

/** @throws {DomainError} INVALID_CURSOR */
export function decodeCursor(agent: Agent, cursor: string): number {
  const [id, number = ''] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (id === agent.id && /^\d+$/.test(number) && encodeCursor(agent, Number(number)) === cursor) {
    return Number(number);
  }
  throw new DomainError(
    'INVALID_CURSOR',
    'This cursor is invalid or belongs to another list; start without one.',
  );
}

/**
 * Where a reader starts: at its cursor, else at the acknowledged position, else at an end of the feed.
 * @throws {DomainError} INVALID_CURSOR
 */
export function startPosition(
  agent: Agent,
  cursor: string | undefined,
  otherwise: 'earliest' | 'latest',
): { position: number; resumed: boolean; gap: boolean } {
  const { removed, acknowledged } = agent.feed;
  const last = lastNumber(agent);
  const isWord = cursor === 'earliest' || cursor === 'latest';
  const requested = cursor === undefined || isWord ? undefined : decodeCursor(agent, cursor);
  const start = requested ?? (isWord ? cursor : (acknowledged ?? otherwise));
  if (start === 'latest') return { position: last, resumed: false, gap: false };
  if (start === 'earliest') return { position: removed, resumed: true, gap: false };
  if (start > last) return { position: last, resumed: false, gap: true };
  return { position: Math.max(start, removed), resumed: true, gap: start < removed };
}

/** Reads the visible events after a position. */
export function readEvents(
  agent: Agent,
  granted: ReadonlySet<string>,
  start: number,
  limit: number,
): EventPage {
  const { feed } = agent;
  const page: EventPage = { events: [], numbers: [], position: start, complete: false, gap: false };
  if (start < feed.removed) Object.assign(page, { position: feed.removed, gap: true });
  while (page.position < lastNumber(agent) && page.events.length < limit) {
    const event = feed.events[page.position - feed.removed];
    page.position += 1;
    if (!event || !canSeeEvent(granted, event.type)) continue;
    page.events.push(event);
    page.numbers.push(page.position);
  }
  page.complete = page.position === lastNumber(agent);
  return page;
}

/** Returns an event as one agent gets it. */
export const presentEvent = (agent: Agent, event: StoredEvent, number: number): object =>
  presentColumns(event, encodeCursor(agent, number));

/** The number of visible events after the acknowledged position: at most 100. */
export function countPending(
  agent: Agent,
  granted: ReadonlySet<string>,
): { pending_events: number; pending_events_more?: true } {
  const { removed, acknowledged } = agent.feed;
  const { events } = readEvents(agent, granted, Math.max(acknowledged ?? 0, removed), Infinity);
  const pending = events.filter((event) => isNews({ ...event, data: event.data ?? {} }, agent.id)).length;
  return { pending_events: Math.min(pending, 100), ...(pending > 100 && { pending_events_more: true }) };
}

/** Waits until the feed has more events than `position`, the time is over, or the signal is aborted. */
export function waitForEvents(
  agent: Agent,
  position: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (lastNumber(agent) > position || waitMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      agent.feed.listeners.delete(finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, waitMs);
    agent.feed.listeners.add(finish);
    signal.addEventListener('abort', finish);
  });
}

/** Lets everyone who waits for events or items of an agent look again. */
export function wakeReaders({ feed }: Agent): void {
  for (const listener of feed.listeners) listener();
}

/** Acknowledges a position; it moves forward only. @throws {DomainError} INVALID_CURSOR */
export function acknowledge(state: State, agent: Agent, cursor: string): void {
  const number =
    cursor === 'latest' || cursor === 'earliest'
      ? startPosition(agent, cursor, 'latest').position
      : Math.min(decodeCursor(agent, cursor), lastNumber(agent));
  const before = agent.feed.acknowledged ?? agent.feed.removed;
  if (number <= before && agent.feed.acknowledged !== null) return;
  agent.feed.acknowledged = Math.max(number, before);
  markDelivered(
    state,
    agent,
    agent.feed.events.slice(before - agent.feed.removed, number - agent.feed.removed),
  );
}

/** Moves the delivered marks of an agent that has received these events, and tells the senders. */
export function markDelivered(state: State, agent: Agent, events: readonly StoredEvent[]): void {
  const marks = new Map<string, number>();
  for (const { message } of events) {
    if (!message || message.sender_id === agent.id) continue;
    marks.set(message.thread_id, Math.max(message.sequence, marks.get(message.thread_id) ?? 0));
  }
  for (const [threadId, sequence] of marks) {
    const thread = state.threads.get(threadId);
    const member = thread?.members.find(({ id }) => id === agent.id);
    const before = member ? Math.max(member.delivered_sequence, member.read_sequence) : sequence;
    if (!thread || !member || before >= sequence) continue;
    member.delivered_sequence = sequence;
    const senders = new Set(
      thread.messages
        .filter((message) => message.sequence > before && message.sequence <= sequence)
        .map(({ sender_id }) => sender_id),
    );
    senders.delete(agent.id);
    const { id, canonical_handle } = agent;
    const members = [{ id, canonical_handle, up_to_sequence: sequence }];
    emit(state, {
      type: 'message.delivered',
      thread_id: threadId,
      recipients: thread.members.filter((one) => senders.has(one.id)).map((one) => one.id),
      data: { thread_id: threadId, delivered_at: state.clock.now(), members },
    });
  }
}
