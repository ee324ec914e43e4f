import { isSameEvent } from '../event.ts';
import type { FeedHistory, History, ReaderHistory } from '../history.ts';
import { checkNumbers, describe } from './feeds.ts';
import type { Violation } from './violation.ts';

/**
 * Checks that a reader saw its agent's feed from its first position on, over all connections and transports. Each connection resumes
 * after the last event of the previous one, so no event is missing, repeated or different, and numbers increase by one.
 */
export function* checkReaders({ readers, feeds }: History): Generator<Violation> {
  for (const reader of readers) {
    const where = `at ${reader.name} of ${reader.agent_id}`;
    for (const complaint of reader.complaints) yield { kind: 'complaint', detail: `${where}: ${complaint}` };
    const feed = feeds.find(({ agent_id }) => agent_id === reader.agent_id);
    if (!feed) {
      yield { kind: 'not seen', detail: `the feed ${where}` };
      continue;
    }
    yield* checkNumbers(where, reader.start, reader.seen);
    yield* checkSeen(reader, feed, where);
  }
}

function* checkSeen(
  { seen, start }: ReaderHistory,
  { events }: FeedHistory,
  where: string,
): Generator<Violation> {
  const byNumber = new Map(events.map((event) => [event.number, event]));
  const got = new Set(seen.map(({ event_id }) => event_id));
  const last = events.at(-1)?.number ?? start;
  for (const event of events) {
    if (event.number <= start || got.has(event.event_id)) continue;
    yield { kind: 'not seen', detail: `${describe(event)} ${where}` };
  }
  for (const event of seen) {
    if (event.number > last) continue; // it arrived after the last read of the feed
    const stored = byNumber.get(event.number);
    if (stored && isSameEvent(event, stored)) continue;
    yield { kind: 'changed', detail: `${describe(event)} ${where} differs from the feed` };
  }
}
