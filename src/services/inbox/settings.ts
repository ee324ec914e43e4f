import type { InboxRow } from '../../repositories/inbox/inboxes.ts';
import { toCurrentPosition } from '../../../packages/core/src/domain/feed/position-ranges.ts';
import { consumerLifeMs, defaultInbox, inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { minIdAt, timeOfId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { inboxNotFound } from './access.ts';
import { returnTasks } from '../tasks/transitions.ts';
import { recordHandled } from './handled.ts';

/** The settings of an inbox, as its agent chooses them. */
export type InboxSettings = Pick<InboxRow, 'types' | 'lease_seconds' | 'max_attempts' | 'ordered_by_thread'>;

/**
 * Turns the actor's inbox on, or changes its settings. Items that it has stay.
 * @param from the position after which events become items: `now`, `earliest`, a cursor, or undefined for no change (`now` for a new inbox).
 * @throws {DomainError} INVALID_CURSOR
 */
export async function saveInbox(work: Work, settings: InboxSettings, from: string | undefined) {
  const { agent_id } = work.actor;
  const current = await work.db.inboxes.lock(agent_id);
  const position = from === undefined && current ? current.position : await readPosition(work, from ?? 'now');
  await work.db.inboxes.save({ agent_id, ...settings, position }, work.now);
  // Waiting claims read the new settings.
  work.changes.publish({ topic: inboxTopic, body: agent_id });
  return readInbox(work, agent_id);
}

/**
 * Turns on the inbox of an agent that never had one, with the default settings, for its first claims.
 * @returns the inbox, locked; undefined after the agent turned it off, and without claims
 */
export async function openInbox(claims: readonly Work[]) {
  const [work] = claims;
  if (!work) return undefined;
  const { agent_id } = work.actor;
  const position = await findStart(
    work,
    claims.flatMap(({ actor }) => actor.feed_cursor ?? []),
  );
  await work.db.inboxes.open({ agent_id, ...defaultInbox, position }, work.now);
  return work.db.inboxes.lock(agent_id);
}

/** After the events that the agent has handled or its sessions have received; otherwise before the oldest unread message. */
async function findStart(work: Work, sessions: readonly string[]): Promise<number> {
  const { agent_id } = work.actor;
  const [bounds] = await work.db.feed.readBounds([agent_id]);
  const received = await Promise.all(sessions.map((cursor) => readPosition(work, cursor)));
  const known = [bounds?.acknowledged_number ?? [], received].flat();
  if (known.length > 0) return Math.max(...known);
  const oldest = await work.db.inboxes.findOldestUnread(agent_id);
  const next =
    oldest && (await work.db.inboxes.findEntrySince(agent_id, minIdAt('event', oldest.created_at)));
  return next ? next.number - 1 : (bounds?.last_number ?? 0);
}

/** A cursor that is beyond the feed, because the database was restored, is its end. */
async function readPosition(
  { db: { feed }, settings: { cursors }, actor }: Work,
  from: string,
): Promise<number> {
  const { agent_id } = actor;
  const requested = from === 'now' || from === 'earliest' ? from : cursors.decodeFeed(agent_id, from);
  const [bounds] = await feed.readBounds([agent_id]);
  const last = bounds?.last_number ?? 0;
  if (requested === 'now') return last;
  if (requested === 'earliest') return bounds?.first_number ? bounds.first_number - 1 : last;
  return Math.min(last, toCurrentPosition(requested, bounds?.ended_stretches ?? []).position);
}

/**
 * An inbox with its counts and consumers; undefined if it is off. `oldest_age` is that of the oldest item that is ready or leased, in
 * milliseconds, null if there is none.
 */
export async function findInbox({ db: { inboxes }, now }: ReadWork, agent_id: string) {
  const [inbox, counts, consumers] = await Promise.all([
    inboxes.find(agent_id),
    inboxes.count(agent_id),
    inboxes.listConsumers(agent_id, consumerLifeMs),
  ]);
  if (!inbox) return undefined;
  const { oldest_event_id: oldest, ...states } = counts;
  const oldest_age = oldest === null ? null : Math.max(0, now - timeOfId(oldest));
  return { ...inbox, ...states, oldest_age, consumers };
}

/** As `findInbox`. @throws {DomainError} INBOX_NOT_FOUND */
export async function readInbox(work: ReadWork, agent_id: string) {
  const inbox = await findInbox(work, agent_id);
  if (!inbox) throw inboxNotFound();
  return inbox;
}

/**
 * Turns the actor's inbox off: its items are removed, and its leases end. Earlier acknowledgements are recorded first.
 * @throws {DomainError} INBOX_NOT_FOUND
 */
export async function removeInbox(work: Work): Promise<void> {
  const { agent_id } = work.actor;
  while (await recordHandled(work, [agent_id], 0));
  if (!(await work.db.inboxes.lock(agent_id))) throw inboxNotFound();
  await returnTasks(work, await work.db.inboxLeases.lockOfTasks(agent_id, null));
  await work.db.inboxes.remove(agent_id);
  // Without this, the next claim would turn it on again.
  await work.db.inboxes.markDeleted(agent_id, work.now);
  work.changes.publish({ topic: inboxTopic, body: agent_id });
}
