import { toCurrentPosition } from '../../domain/feed/position-ranges.ts';
import { consumerLifeMs, inboxTopic } from '../../domain/inbox.ts';
import { timeOfId } from '../../domain/ids.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { inboxNotFound } from './access.ts';
import { recordHandled } from './handled.ts';

type InboxRow = NonNullable<Awaited<ReturnType<Work['inboxes']['find']>>>;

/** The settings of an inbox, as its agent chooses them. */
export type InboxSettings = Pick<InboxRow, 'types' | 'lease_seconds' | 'max_attempts' | 'ordered_by_thread'>;

/**
 * Turns the actor's inbox on, or changes its settings. Items that it has stay.
 * @param from the position after which events become items: `now`, `earliest`, a cursor, or undefined for no change (`now` for a new inbox).
 * @throws {DomainError} INVALID_CURSOR
 */
export async function saveInbox(work: Work, settings: InboxSettings, from: string | undefined) {
  const { agent_id } = work.actor;
  const current = await work.inboxes.lock(agent_id);
  const position = from === undefined && current ? current.position : await readPosition(work, from ?? 'now');
  await work.inboxes.save({ agent_id, ...settings, position }, work.now);
  // Waiting claims read the new settings.
  work.publish({ topic: inboxTopic, body: agent_id });
  return readInbox(work, agent_id);
}

/** A cursor that is beyond the feed, because the database was restored, is its end. */
async function readPosition({ feed, cursors, actor }: Work, from: string): Promise<number> {
  const { agent_id } = actor;
  const requested = from === 'now' || from === 'earliest' ? from : cursors.decodeFeed(agent_id, from);
  const [bounds] = await feed.readBounds([agent_id]);
  const last = bounds?.last_number ?? 0;
  if (requested === 'now') return last;
  if (requested === 'earliest') return bounds?.first_number ? bounds.first_number - 1 : last;
  return Math.min(last, toCurrentPosition(requested, bounds?.ended_stretches ?? []).position);
}

/**
 * An inbox with its counts and consumers. `oldest_age` is that of the oldest item that is ready or leased, in milliseconds, null if there is none.
 * @throws {DomainError} INBOX_NOT_FOUND
 */
export async function readInbox({ inboxes, now }: Pick<SystemWork, 'inboxes' | 'now'>, agent_id: string) {
  const [inbox, counts, consumers] = await Promise.all([
    inboxes.find(agent_id),
    inboxes.count(agent_id),
    inboxes.listConsumers(agent_id, consumerLifeMs),
  ]);
  if (!inbox) throw inboxNotFound();
  const { oldest_event_id: oldest, ...states } = counts;
  const oldest_age = oldest === null ? null : Math.max(0, now - timeOfId(oldest));
  return { ...inbox, ...states, oldest_age, consumers };
}

/**
 * Turns the actor's inbox off: its items are removed, and its leases end. Earlier acknowledgements are recorded first.
 * @throws {DomainError} INBOX_NOT_FOUND
 */
export async function removeInbox(work: Work): Promise<void> {
  const { agent_id } = work.actor;
  while (await recordHandled(work, [agent_id], 0));
  if (!(await work.inboxes.lock(agent_id))) throw inboxNotFound();
  await work.inboxes.remove(agent_id);
  work.publish({ topic: inboxTopic, body: agent_id });
}
