import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EventRow } from '../repositories/feed/events.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { createSealedBox, deriveKeys, type SealedBox, type Secrets } from '../shared/encryption.ts';
import type { BusMessage, CommitResult } from './change-set.ts';

/** The part of a commit that other processes can deliver without a query. */
export type RelayedCommit = Pick<CommitResult, 'entries' | 'events'>;

/**
 * Sends the small events of commits to the other processes, together with their wake-ups. Messages can be dropped, delayed, duplicated or
 * reordered: readers take only the entries that follow their position, and read the database for the others.
 */
export interface EventRelay {
  /** The bus messages with the events of these commits; none while no other process has readers. */
  pack(commits: readonly RelayedCommit[]): BusMessage[];
  /**
   * Receives what other processes commit, and announces this process to them while it has readers.
   * @returns stops both
   */
  start(parts: {
    hasReaders(): boolean;
    /** Milliseconds between announcements; 3,000 by default. */
    announceMs?: number | undefined;
    onCommit(commit: RelayedCommit): void;
  }): Promise<() => Promise<void>>;
}

/** Larger threads and larger events cost every process more than the query that they save. */
const maxRecipients = 4;
const maxEventBytes = 4_096;
/** Per send. After a pause of the bus, one query for many events is cheaper. */
const maxEventsPerSend = 200;
/** As base64 this stays below the 8,000 bytes of a notification in PostgreSQL. */
const maxTextBytes = 5_600;

/**
 * How old an event can be on arrival, by the clocks of both processes. With the time that entries stay in the cache this is shorter than any
 * database restore, which replaces entries.
 */
const maxAgeMs = 2_000;

/** A process announces its readers at this interval, and counts as without readers after three of them. */
const defaultAnnounceMs = 3_000;

export interface EventRelayParts {
  bus: Bus;
  /** A database role and a user of Redis can read the bus, and write to it. */
  secrets: Secrets;
  /** Events of another release are not read: their rows can have another form. */
  version: string;
}

/** An event and the feed numbers that it has, by agent. */
interface RelayedEvent {
  event: EventRow;
  numbers: [agentId: string, number: number][];
}

/** A relay that sends nothing until it is started. */
export function createEventRelay({ bus, secrets, version }: EventRelayParts): EventRelay {
  const topic = `events/${version}`;
  const own = randomUUID();
  // A key of its own for each process: random nonces are safe for 2^32 messages with one key.
  const boxOf = createBoxes((sender) => createSealedBox(deriveKeys(secrets, `ams bus ${sender}`)));
  let lastAnnouncement = 0;

  function seal(events: readonly string[]): BusMessage {
    const text = `{"sent_at":${Date.now()},"events":[${events.join()}]}`;
    return { topic, body: `${own} ${boxOf(own).seal(text, topic).toString('base64')}` };
  }

  function receive(body: string, onCommit: (commit: RelayedCommit) => void): void {
    const [sender = '', sealed] = body.split(' ', 2);
    if (sender === own) return;
    if (sealed === undefined) lastAnnouncement = Date.now();
    const text = sealed && openText(boxOf(sender), sealed, topic);
    if (!text) return;
    const { sent_at, events } = JSON.parse(text) as { sent_at: number; events: RelayedEvent[] };
    if (Math.abs(Date.now() - sent_at) > maxAgeMs) return;
    const entries = events.flatMap(({ event, numbers }) =>
      numbers.map(([agent_id, number]) => ({ agent_id, number, event_id: event.id })),
    );
    onCommit({ entries, events: events.map(({ event }) => event) });
  }

  return {
    pack(commits) {
      if (Date.now() - lastAnnouncement > 3 * defaultAnnounceMs) return [];
      const events = commits.flatMap(toEventTexts);
      return events.length > maxEventsPerSend ? [] : groupBySize(events).map(seal);
    },
    async start({ hasReaders, onCommit, announceMs = defaultAnnounceMs }) {
      const announce = () => {
        if (hasReaders()) bus.publish([{ topic, body: own }]).catch(() => 'the next one follows');
      };
      const timer = setInterval(announce, announceMs).unref();
      const unsubscribe = bus.subscribe(topic, (body) => receive(body, onCommit));
      return async () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}

/** The box of each of the last senders, since a key takes longer to derive than a message to open. */
function createBoxes(create: (sender: string) => SealedBox): (sender: string) => SealedBox {
  const boxes = new LRUCache<string, SealedBox>({ max: 100 });
  return (sender) => {
    const box = boxes.get(sender) ?? create(sender);
    boxes.set(sender, box);
    return box;
  };
}

/** Undefined for a text that no process with this secret and this release has sealed. */
function openText(box: SealedBox, sealed: string, topic: string): string | undefined {
  try {
    return box.open(Buffer.from(sealed, 'base64'), topic);
  } catch {
    return undefined;
  }
}

/** The events of a commit that are small enough, as JSON, in their order. */
function toEventTexts({ entries, events }: RelayedCommit): string[] {
  const numbersOf = new Map<string, RelayedEvent['numbers']>();
  for (const { agent_id, number, event_id } of entries) {
    const numbers = numbersOf.get(event_id);
    if (numbers) numbers.push([agent_id, number]);
    else numbersOf.set(event_id, [[agent_id, number]]);
  }
  return events.flatMap((event) => {
    const numbers = numbersOf.get(event.id) ?? [];
    if (numbers.length === 0 || numbers.length > maxRecipients) return [];
    const text = JSON.stringify({ event, numbers } satisfies RelayedEvent);
    return Buffer.byteLength(text) > maxEventBytes ? [] : [text];
  });
}

/** Consecutive texts whose sizes together stay below the limit of one message. */
function groupBySize(texts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let bytes = Infinity;
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1;
    if (bytes + size > maxTextBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(text);
    bytes += size;
  }
  return groups;
}
