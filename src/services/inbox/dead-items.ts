import type { DeadItemRow } from '../../repositories/inbox/dead-items.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { handledTopic, inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { inboxTypes, visibleTypes } from '../../../packages/core/src/events/inbox-types.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { failTask } from '../tasks/transitions.ts';
import { inboxNotFound } from './access.ts';
import { endExpiredLeases } from './end-leases.ts';

type Writes = Parameters<typeof endExpiredLeases>[0] & ReadWork;

/**
 * Returns a page of the actor's dead items that its token may see, oldest first, each with its event.
 * @throws {DomainError} INBOX_NOT_FOUND, INVALID_CURSOR
 */
export async function listDeadItems(work: Work, request: PageRequest) {
  const { agent_id } = work.actor;
  const types = visibleTypes(inboxTypes, work.actor);
  await requireInbox(work, agent_id);
  const { rows, next_cursor } = await readPage(work, request, {
    binding: ['list_dead_items'],
    rows: (after: readonly [number] | null, limit) =>
      work.db.inboxDeadItems.list(agent_id, { after: after?.[0] ?? -1, limit, types }),
    position: ({ number }) => [number],
  });
  return { rows: await withEvents(work, agent_id, rows), next_cursor };
}

/**
 * Returns the oldest dead items of an agent, for operators.
 * @throws {DomainError} INBOX_NOT_FOUND
 */
export async function listOldestDeadItems(work: ReadWork, agent_id: string, limit: number) {
  await requireInbox(work, agent_id);
  const rows = await work.db.inboxDeadItems.list(agent_id, { after: -1, limit, types: inboxTypes });
  return withEvents(work, agent_id, rows);
}

/** An item whose event is no longer kept is about to expire, and is left out. */
async function withEvents(
  { db: { feed }, settings: { cursors } }: ReadWork,
  agent_id: string,
  rows: readonly DeadItemRow[],
) {
  const events = rows.length > 0 ? await feed.readEvents(rows.map(({ event_id }) => event_id)) : [];
  const eventsById = new Map(events.map((event) => [event.id, event]));
  return rows.flatMap((row) => {
    const event = eventsById.get(row.event_id);
    return event ? [toDeadItem(row, event, cursors.encodeFeed(agent_id, row.number))] : [];
  });
}

function toDeadItem<Event>(
  { event_id: id, attempts, reasons, updated_at: dead_at }: DeadItemRow,
  event: Event,
  cursor: string,
) {
  return { id, attempts, reasons, dead_at, event, cursor };
}

/**
 * Makes a dead item ready again, with all of its attempts. In order of threads it waits for newer items of its thread that are leased.
 * @throws {DomainError} NOT_FOUND, INBOX_NOT_FOUND
 */
export async function redriveDeadItem(work: Writes, agent_id: string, id: string): Promise<void> {
  await endExpired(work, agent_id);
  const found = isId('event', id) && (await work.db.inboxDeadItems.redrive(agent_id, id));
  if (!found) throw deadItemNotFound();
  work.changes.publish({ topic: inboxTopic, body: agent_id });
}

/**
 * Makes all dead items of an agent ready again.
 * @returns their number
 * @throws {DomainError} INBOX_NOT_FOUND
 */
export async function redriveAllDeadItems(work: Writes, agent_id: string): Promise<number> {
  await endExpired(work, agent_id);
  const redriven = await work.db.inboxDeadItems.redriveAll(agent_id);
  work.changes.publish({ topic: inboxTopic, body: agent_id });
  return redriven;
}

/**
 * Removes a dead item of the actor. The handled mark of its thread no longer waits for it.
 * @throws {DomainError} NOT_FOUND, INBOX_NOT_FOUND
 */
export async function removeDeadItem(work: Work, id: string): Promise<void> {
  const { agent_id } = work.actor;
  await endExpired(work, agent_id);
  const taskId = isId('event', id) && (await work.db.inboxDeadItems.findTask(agent_id, id));
  // The task is locked before the item.
  if (taskId) await failTask(work, taskId);
  const found = isId('event', id) && (await work.db.inboxDeadItems.remove(agent_id, id));
  if (!found) throw deadItemNotFound();
  if (found.sequence !== null) work.changes.publishLocally({ topic: handledTopic, body: agent_id });
}

async function requireInbox({ db: { inboxes } }: ReadWork, agent_id: string): Promise<void> {
  if (!(await inboxes.find(agent_id))) throw inboxNotFound();
}

/** Items whose last lease expired are listed as dead: they are, before one of them is changed. */
async function endExpired(work: Writes, agent_id: string): Promise<void> {
  if (!(await endExpiredLeases(work, agent_id))) throw inboxNotFound();
}

function deadItemNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'The inbox has no such dead item.');
}
