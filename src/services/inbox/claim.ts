import { DomainError } from '../../domain/errors.ts';
import { maxLeases, type NextItem, toLeaseId, visibleTypes } from '../../domain/inbox.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { readRelationships } from '../access.ts';
import { requireActorState } from '../actor-checks.ts';
import { inboxNotFound } from './access.ts';

type Claims = Work['inboxClaims'];
type ClaimedItem = Awaited<ReturnType<Claims['claim']>>[number];
type Holder = Parameters<Claims['claim']>[1]['holder'];
type Inbox = NonNullable<Awaited<ReturnType<Work['inboxes']['lock']>>>;

/** At most this many feed entries are copied at a time, and this many times by one claim. */
const entriesPerStep = 1_000;
const maxSteps = 10;

/** What an instance asks for. */
export interface ClaimRequest {
  max: number;
  /** Undefined: as the inbox has it. */
  lease_seconds?: number | undefined;
  consumer?: string | undefined;
}

/**
 * Leases the oldest items that are free to an instance of the actor. The inbox is locked, so claims of one agent run one after the other;
 * items are copied from the feed only when too few are ready.
 * @returns the leases with their events, oldest first; none when no item is free
 * @throws {DomainError} INBOX_NOT_FOUND, AGENT_PAUSED, UNAUTHORIZED (the token was revoked), INSUFFICIENT_SCOPE (it may see none of the
 * types), RATE_LIMITED (the agent has the maximum of leases)
 */
export async function claimItems(work: Work, request: ClaimRequest) {
  const { agent_id } = work.actor;
  const [holder, inbox] = await Promise.all([
    readHolder(work, request.consumer ?? null),
    work.inboxes.lock(agent_id),
  ]);
  if (!inbox) throw inboxNotFound();
  requireActorState({ retired: false, paused: inbox.paused });
  const types = visibleTypes(inbox.types, work.actor);
  if (types.length === 0) throw missingScope();
  const expires_at = work.now + (request.lease_seconds ?? inbox.lease_seconds) * 1_000;
  const options = { types, ordered: inbox.ordered_by_thread, now: work.now, expires_at, holder };
  if (request.consumer !== undefined)
    work.defer(work.inboxes.recordConsumer(agent_id, request.consumer, work.now));
  const items = await claimReady(work, inbox, { max: request.max, ...options });
  if (items.length === 0 && (await work.inboxClaims.countLeases(agent_id)) >= maxLeases)
    throw tooManyLeases();
  return withEvents(work, items);
}

/** Claims what is ready, and copies items from the feed until there are enough or the feed has no more. */
async function claimReady(
  work: Work,
  { position: start, last_number, max_attempts }: Inbox,
  { max, ...options }: Parameters<Claims['claim']>[1],
): Promise<ClaimedItem[]> {
  const { agent_id } = work.actor;
  const [, claimed] = await Promise.all([
    work.inboxClaims.endExpired(agent_id, { now: work.now, max_attempts }),
    work.inboxClaims.claim(agent_id, { max, ...options }),
  ]);
  let position = start;
  for (let step = 0; claimed.length < max && position < last_number && step < maxSteps; step += 1) {
    const [entries = []] = await work.feed.read([{ agent_id, after: position }], entriesPerStep);
    position = entries.at(-1)?.number ?? last_number;
    const [, more] = await Promise.all([
      work.inboxClaims.materialize(agent_id, { entries, position, now: work.now }),
      work.inboxClaims.claim(agent_id, { max: max - claimed.length, ...options }),
    ]);
    claimed.push(...more);
  }
  return claimed;
}

/** Joins leases with their events. An event that is no longer kept has nothing to handle: its item leaves the inbox. */
async function withEvents(work: Work, items: readonly ClaimedItem[]) {
  if (items.length === 0) return [];
  const { agent_id } = work.actor;
  const [events, relationships] = await Promise.all([
    work.feed.readEvents(items.map(({ event_id }) => event_id)),
    readRelationships(
      work,
      items.flatMap(({ sender_id }) => sender_id ?? []),
    ),
  ]);
  const eventsById = new Map(events.map((event) => [event.id, event]));
  const lost = items.filter(({ event_id }) => !eventsById.has(event_id));
  if (lost.length > 0) {
    const tokens = lost.map(({ fencing_token }) => fencing_token);
    await work.inboxLeases.acknowledge(agent_id, tokens, work.now);
  }
  return items.flatMap(({ number, event_id, sender_id, attempts, fencing_token, expires_at }) => {
    const event = eventsById.get(event_id);
    if (!event) return [];
    return {
      id: toLeaseId(agent_id, fencing_token),
      fencing_token,
      attempt: attempts,
      expires_at,
      relationship: sender_id === null ? undefined : (relationships.get(sender_id) ?? ('none' as const)),
      event,
      cursor: work.cursors.encodeFeed(agent_id, number),
    };
  });
}

/** The claiming token, locked so that it cannot be revoked before the claim is made. A person in the console has no token. */
async function readHolder({ actor, inboxClaims }: Work, consumer: string | null): Promise<Holder> {
  const { token_id, client_id, account_id } = actor;
  const token_hash = Buffer.from(token_id, 'base64url');
  const token = await inboxClaims.lockToken(token_hash);
  if (!token && account_id === undefined) {
    throw new DomainError('UNAUTHORIZED', 'This access token was revoked; request a new one.');
  }
  return { consumer, token_hash, client_id, grant_id: token?.grant_id ?? null };
}

/** When the next item of the actor's inbox can be ready; for claims that wait. */
export async function findNextItem({
  inboxes,
  actor,
  now,
}: Pick<Work, 'inboxes' | 'actor' | 'now'>): Promise<NextItem> {
  const next = await inboxes.findNext(actor.agent_id, now);
  if (!next) throw inboxNotFound();
  return next;
}

function missingScope(): DomainError {
  const message = 'The token may not see the events of this inbox.';
  return new DomainError('INSUFFICIENT_SCOPE', message, { scope: 'threads:read' });
}

function tooManyLeases(): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    `An agent can have ${maxLeases} leases at a time. Acknowledge or release some.`,
    { retry_after: 1 },
  );
}
