import { isSameEvent, subjectOf } from '../event.ts';
import type { History, SeenEvent } from '../history.ts';
import type { ParsedFeed } from './event-data.ts';
import { isLogEvent, type ThreadLog, threadOf } from './thread-log.ts';
import { type Violation, findDuplicates } from './violation.ts';

/**
 * Checks the feed of every agent: numbers without gaps, no duplicate events, every event of its threads in the order of the thread's log
 * and with the same data, every contact request exactly once, and the same data for the same event in all feeds.
 */
export function* checkFeeds(
  history: History,
  feeds: readonly ParsedFeed[],
  logs: ReadonlyMap<string, ThreadLog>,
): Generator<Violation> {
  for (const { agent_id, start, events } of history.feeds)
    yield* checkNumbers(`in the feed of ${agent_id}`, start, events);
  for (const feed of feeds) {
    yield* checkThreads(feed, logs);
    yield* checkContactRequests(feed, history);
  }
  yield* checkSharedEvents(history.feeds);
}

/** Checks that numbers increase by one and that no event is repeated. */
export function* checkNumbers(
  where: string,
  start: number,
  events: readonly SeenEvent[],
): Generator<Violation> {
  for (const id of findDuplicates(events.map(({ event_id }) => event_id)))
    yield { kind: 'repeated after resume', detail: `event ${id} ${where}` };
  for (const [index, { event_id, number }] of events.entries()) {
    const before = events[index - 1]?.number ?? start;
    if (number === before + 1) continue;
    const kind = number <= before ? 'out of order' : 'hole';
    yield { kind, detail: `event ${event_id} ${where}: ${number} follows ${before}` };
  }
}

function* checkThreads(feed: ParsedFeed, logs: ReadonlyMap<string, ThreadLog>): Generator<Violation> {
  const { agent_id } = feed;
  const where = `in the feed of ${agent_id}`;
  const received = new Map<string, SeenEvent[]>();
  for (const event of feed.events) {
    if (!isLogEvent(event)) continue;
    const thread_id = threadOf(event);
    if (!logs.has(thread_id)) yield { kind: 'foreign', detail: `${describe(event.seen)} ${where}` };
    const events = received.get(thread_id) ?? [];
    received.set(thread_id, events);
    events.push(event.seen);
  }
  for (const { thread_id, owner_id, entries } of logs.values()) {
    if (owner_id === agent_id) continue;
    const own = entries.filter(({ recipients }) => recipients.includes(agent_id));
    const expected = own.map(({ event }) => event.seen);
    yield* checkEvents(`of ${thread_id} ${where}`, expected, received.get(thread_id) ?? []);
  }
}

function* checkEvents(
  where: string,
  expected: readonly SeenEvent[],
  received: readonly SeenEvent[],
): Generator<Violation> {
  const wanted = new Map(expected.map((event) => [event.event_id, event]));
  const got = new Set(received.map(({ event_id }) => event_id));
  for (const event of expected)
    if (!got.has(event.event_id)) yield { kind: 'lost', detail: `${describe(event)} ${where}` };
  for (const event of received)
    if (!wanted.has(event.event_id)) yield { kind: 'foreign', detail: `${describe(event)} ${where}` };
  const inOrder = expected.filter(({ event_id }) => got.has(event_id));
  const common = received.filter(({ event_id }) => wanted.has(event_id));
  const misplaced = common.find(({ event_id }, index) => inOrder[index]?.event_id !== event_id);
  if (misplaced) yield { kind: 'out of order', detail: `${describe(misplaced)} ${where}` };
}

function* checkContactRequests({ agent_id, events }: ParsedFeed, history: History): Generator<Violation> {
  const where = `in the feed of ${agent_id}`;
  const attempts = history.contact_requests.filter(({ to }) => to === agent_id);
  const senders = new Map(
    attempts.flatMap(({ agent_id: by, answers }) => (answers[0] ? [[answers[0].request_id, by]] : [])),
  );
  const received: string[] = [];
  for (const { type, data } of events) {
    if (type !== 'contact.request') continue;
    received.push(data.request_id);
    if (senders.get(data.request_id) !== data.from.id)
      yield { kind: 'foreign', detail: `${type} of ${data.request_id} by ${data.from.id} ${where}` };
  }
  for (const id of findDuplicates(received))
    yield { kind: 'doubled', detail: `contact.request of ${id} ${where}` };
  for (const id of senders.keys())
    if (!received.includes(id)) yield { kind: 'lost', detail: `contact.request of ${id} ${where}` };
}

/** Checks that an event has the same data in every feed. */
function* checkSharedEvents(feeds: History['feeds']): Generator<Violation> {
  const first = new Map<string, SeenEvent>();
  for (const { agent_id, events } of feeds) {
    for (const event of events) {
      const other = first.get(event.event_id) ?? event;
      first.set(event.event_id, other);
      if (isSameEvent(event, other)) continue;
      yield {
        kind: 'changed',
        detail: `${describe(event)} in the feed of ${agent_id} differs from other feeds`,
      };
    }
  }
}

export function describe(event: SeenEvent): string {
  return `event ${event.event_id} (${event.number}, ${event.type} of ${subjectOf(event)})`;
}
