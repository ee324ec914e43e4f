import type { History, InboxSettings, Lease, StoredInbox } from '../history.ts';
import type { MessageData, ParsedFeed } from './event-data.ts';
import { mayHaveWritten } from './lease-ends.ts';
import { groupLeases } from './leases.ts';
import { listSkippedMessages } from './tasks.ts';
import type { ThreadLog } from './thread-log.ts';
import { findDuplicates, type Violation } from './violation.ts';

type Logs = ReadonlyMap<string, ThreadLog>;

/** A message of another agent in the feed of an agent with an inbox. */
interface Item {
  event_id: string;
  created_at: number;
  message: MessageData;
}

/**
 * Checks the items of every inbox: at the end each was acknowledged or is dead after all of its attempts, and was answered at most
 * once by its acknowledgements.
 */
export function* checkInboxItems(
  history: History,
  feeds: readonly ParsedFeed[],
  logs: Logs,
): Generator<Violation> {
  for (const inbox of history.inboxes) {
    const { agent_id } = inbox;
    const stored = history.stored_inboxes.find((each) => each.agent_id === agent_id);
    if (!stored) yield { kind: 'lost', detail: `the inbox of ${agent_id}` };
    const items = listItems(agent_id, feeds);
    const own = groupLeases(
      history.leases.filter((lease) => lease.agent_id === agent_id),
      ({ event_id }) => event_id,
    );
    const isAcknowledged = ({ event_id }: Item) =>
      (own.get(event_id) ?? []).some((lease) => mayHaveWritten(lease, 'acknowledge'));
    if (stored) yield* checkStored(stored, inbox);
    const dead = new Set(stored?.dead.map(({ event_id }) => event_id));
    const skipped = new Set(listSkippedMessages(history, agent_id));
    for (const item of items) {
      if (skipped.has(item.message.id)) continue;
      if (isAcknowledged(item) || dead.has(item.event_id) || mayBeRemoved(item, agent_id, history)) continue;
      const { id, thread_id } = item.message;
      yield { kind: 'not handled', detail: `message ${id} of ${thread_id} in the inbox of ${agent_id}` };
    }
    yield* checkForeign(own, items, agent_id);
  }
  yield* checkReplies(history.leases, logs);
}

function listItems(agent: string, feeds: readonly ParsedFeed[]): Item[] {
  const feed = feeds.find(({ agent_id }) => agent_id === agent);
  return (feed?.events ?? []).flatMap(({ type, data, seen: { event_id, created_at } }) =>
    type === 'message.created' && data.sender.id !== agent
      ? [{ event_id, created_at: created_at ?? 0, message: data }]
      : [],
  );
}

/** Whether the agent may have been removed from the thread of an item after it was sent, with which the item leaves the inbox. */
function mayBeRemoved({ created_at, message }: Item, agent_id: string, { member_changes }: History): boolean {
  return member_changes.some(
    ({ kind, member_id, thread_id, acknowledged_at }) =>
      kind === 'removed' &&
      member_id === agent_id &&
      thread_id === message.thread_id &&
      (acknowledged_at ?? created_at) >= created_at,
  );
}

function* checkStored(
  { agent_id, ready, leased, dead }: StoredInbox,
  { max_attempts }: InboxSettings,
): Generator<Violation> {
  if (ready + leased > 0)
    yield { kind: 'owed', detail: `${ready} ready and ${leased} leased items in the inbox of ${agent_id}` };
  for (const { event_id, attempts } of dead)
    if (attempts !== max_attempts) {
      const detail = `event ${event_id} in the inbox of ${agent_id} is dead after ${attempts} attempts`;
      yield { kind: 'not handled', detail };
    }
}

/** Checks that every lease is of an item of its agent. */
function* checkForeign(
  leases: ReadonlyMap<string, readonly Lease[]>,
  items: readonly Item[],
  agent_id: string,
): Generator<Violation> {
  const known = new Set(items.map(({ event_id }) => event_id));
  for (const id of leases.keys())
    if (!known.has(id)) yield { kind: 'foreign', detail: `event ${id} in the inbox of ${agent_id}` };
}

/** Checks that an item has at most one reply of its acknowledgements. */
function* checkReplies(leases: readonly Lease[], logs: Logs): Generator<Violation> {
  const items = new Map<string, string>();
  for (const { agent_id, message_id, writes } of leases)
    for (const { kind, draft } of writes)
      if (kind === 'acknowledge' && draft) items.set(draft.content, `${message_id} by ${agent_id}`);
  const answered = [...logs.values()].flatMap(({ messages }) =>
    messages.flatMap(({ content }) => items.get(content) ?? []),
  );
  for (const reply of new Set(findDuplicates(answered)))
    yield { kind: 'doubled', detail: `the reply to ${reply}` };
}
