import type { History, SeenEvent } from '../history.ts';
import { type Violation, findDuplicates } from './violation.ts';
import { listMembers } from './threads.ts';

type Feed = History['feeds'][number];

/**
 * Checks the feed of every agent: numbers without gaps, no duplicate events, every message and thread of the agent exactly once, and
 * the messages of a thread in the same order for all members.
 */
export function* checkFeeds(history: History): Generator<Violation> {
  const members = listMembers(history);
  const messages = new Map<string, { thread_id: string; sequence: number }>();
  for (const { answers } of history.sends) {
    const [first] = answers;
    if (first) messages.set(first.message_id, first);
  }
  for (const feed of history.feeds) {
    const { agent_id } = feed;
    yield* checkNumbers(`in the feed of ${agent_id}`, feed.start, feed.events);
    const isMember = (thread_id: string) => members.get(thread_id)?.includes(agent_id) ?? false;
    const expectedMessages = [...messages]
      .filter(([, { thread_id }]) => isMember(thread_id))
      .map(([id]) => id);
    yield* checkSubjects(feed, 'message.created', expectedMessages);
    const opened = history.sends
      .filter(
        ({ kind, agent_id: by, others }) =>
          kind === 'opening' && (by === agent_id || others.includes(agent_id)),
      )
      .flatMap(({ answers }) => answers.slice(0, 1).map(({ thread_id }) => thread_id));
    yield* checkSubjects(feed, 'thread.created', opened);
    const received = history.contact_requests.filter(({ to }) => to === agent_id);
    const requests = received.flatMap(({ answers }) =>
      answers.slice(0, 1).map(({ request_id }) => request_id),
    );
    yield* checkSubjects(feed, 'contact.request', requests);
    yield* checkOrder(feed, messages);
  }
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

function* checkSubjects(
  { agent_id, events }: Feed,
  type: string,
  wanted: readonly string[],
): Generator<Violation> {
  const subjects = events.filter((event) => event.type === type).map(({ subject }) => subject ?? '');
  const got = new Set(subjects);
  const expected = new Set(wanted);
  const where = `in the feed of ${agent_id}`;
  for (const id of wanted) if (!got.has(id)) yield { kind: 'lost', detail: `${type} of ${id} ${where}` };
  for (const id of findDuplicates(subjects)) yield { kind: 'doubled', detail: `${type} of ${id} ${where}` };
  for (const id of got) if (!expected.has(id)) yield { kind: 'foreign', detail: `${type} of ${id} ${where}` };
}

function* checkOrder(
  { agent_id, events }: Feed,
  messages: ReadonlyMap<string, { thread_id: string; sequence: number }>,
): Generator<Violation> {
  const last = new Map<string, number>();
  for (const { type, subject } of events) {
    const message = type === 'message.created' ? messages.get(subject ?? '') : undefined;
    if (!message) continue;
    const before = last.get(message.thread_id) ?? 0;
    last.set(message.thread_id, message.sequence);
    if (message.sequence === before + 1) continue;
    const detail = `message ${subject} of ${message.thread_id} in the feed of ${agent_id}: ${message.sequence} follows ${before}`;
    yield { kind: message.sequence <= before ? 'out of order' : 'hole', detail };
  }
}
