import type { ClaimedItem, LockedToken } from '../../repositories/inbox/claims.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { LockedInbox } from '../../repositories/inbox/inboxes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { defaultInbox, maxLeases, type NextItem } from '../../../packages/core/src/domain/inbox.ts';
import { inboxTypes, visibleTypes } from '../../../packages/core/src/events/inbox-types.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { readRelationships } from '../access.ts';
import { requireActorState } from '../actor-checks.ts';
import { inboxNotFound } from './access.ts';
import { describeOpenTask } from '../../../packages/core/src/policies/tasks.ts';
import { returnTasks, startTasks } from '../tasks/transitions.ts';
import { announceDeadItems } from './end-leases.ts';
import { toLeaseId } from './lease-ids.ts';
import { openInbox } from './settings.ts';

type Claims = Work['db']['inboxClaims'];
type Claim = Parameters<Claims['claim']>[1];

/** At most this many feed entries are copied at a time, and this many times by one claim. */
const entriesPerStep = 1_000;
const maxSteps = 10;

/** What an instance asks for. */
export interface ClaimRequest {
  max: number;
  /** Undefined: as the inbox has it. */
  lease_seconds?: number | undefined;
  /** Undefined: the name of the credential or app. */
  consumer?: string | undefined;
}

/** A claim of an instance, in its unit of work. */
export interface ClaimCall {
  work: Work;
  request: ClaimRequest;
}

/** A lease with its event, oldest first. */
export type LeasedItem = Awaited<ReturnType<typeof withEvents>>[number];

/**
 * Leases the oldest items that are free to an instance of the actor. The first claim of an agent turns its inbox on.
 * @returns the leases with their events, oldest first; none when no item is free
 * @throws {DomainError} INBOX_NOT_FOUND (the agent turned its inbox off), AGENT_PAUSED, UNAUTHORIZED (the token was revoked), INSUFFICIENT_SCOPE (it may see none of the
 * types), RATE_LIMITED (the agent has the maximum of leases)
 */
export async function claimItems(work: Work, request: ClaimRequest): Promise<LeasedItem[]> {
  const [result] = await claimItemsInBatch([{ work, request }], { wait: true });
  if (result instanceof DomainError) throw result;
  return result ?? [];
}

/**
 * Runs claims of one agent in one transaction, one after the other. The inbox is locked, so no other claim of the agent runs; items are copied
 * from the feed only when too few are ready.
 * @param options.wait whether to wait for a token that is being revoked. If not, the result of its claim is null: to wait for one token
 * while others are locked could deadlock.
 * @returns the result of each claim, as `claimItems`
 */
export async function claimItemsInBatch(
  calls: readonly ClaimCall[],
  { wait }: { wait: boolean },
): Promise<BatchResult<LeasedItem[]>[]> {
  const [first] = calls;
  if (!first) return [];
  const { agent_id } = first.work.actor;
  const [tokens, existing] = await Promise.all([
    first.work.db.inboxClaims.lockTokens(
      calls.map(({ work }) => hashOf(work)),
      { wait },
    ),
    first.work.db.inboxes.lock(agent_id),
  ]);
  const locked = new Map(tokens.map((token) => [token.token_hash.toString('base64url'), token]));
  const { types } = existing ?? defaultInbox;
  const denials = calls.map(({ work: { actor } }) => {
    // A person in the console has no token.
    if (!locked.has(actor.token_id) && actor.account_id === undefined) return wait ? tokenRevoked() : null;
    return visibleTypes(types, actor).length === 0 ? missingScope() : undefined;
  });
  const permitted = calls.flatMap(({ work }, at) => (denials[at] === undefined ? [work] : []));
  const inbox = existing ?? (await openInbox(permitted));
  const refusals = denials.map((denial) => (denial === undefined && !inbox ? inboxNotFound() : denial));
  if (!inbox) return refusals.map((refusal) => refusal ?? null);
  requireActorState({ retired: false, paused: inbox.paused });
  const accepted = calls.filter((_, at) => refusals[at] === undefined);
  const claims = accepted.map((call) => toClaim(call, inbox, locked.get(call.work.actor.token_id)));
  for (const consumer of new Set(claims.map(({ holder }) => holder.consumer)))
    first.work.changes.defer(first.work.db.inboxes.recordConsumer(agent_id, consumer));
  const claimed = await claimReady(first.work, inbox, claims);
  const tasks = await startTasks(first.work, claimed.flat());
  const hasEmpty = claimed.some((items) => items.length === 0);
  const isFull = hasEmpty && (await first.work.db.inboxClaims.countLeases(agent_id)) >= maxLeases;
  const leases = await withEvents(first.work, claimed.flat(), tasks);
  const results = new Map(
    accepted.map((call, at): [ClaimCall, BatchResult<LeasedItem[]>] => {
      const tokensOfCall = new Set(claimed[at]?.map(({ fencing_token }) => fencing_token));
      if (isFull && tokensOfCall.size === 0) return [call, tooManyLeases()];
      return [call, leases.filter(({ fencing_token }) => tokensOfCall.has(fencing_token))];
    }),
  );
  return calls.map((call, at) => results.get(call) ?? refusals[at] ?? null);
}

const hashOf = ({ actor }: Work): Buffer => Buffer.from(actor.token_id, 'base64url');

function toClaim({ work, request }: ClaimCall, inbox: LockedInbox, token: LockedToken | undefined): Claim {
  const { max, lease_seconds = inbox.lease_seconds } = request;
  const { client_id } = work.actor;
  const { consumer = token?.client_name ?? client_id } = request;
  return {
    max,
    // Items stay when their type is removed from the settings. They are claimed, too, because newer items of their thread wait for them.
    types: visibleTypes(inboxTypes, work.actor),
    ordered: inbox.ordered_by_thread,
    lease_ms: lease_seconds * 1_000,
    holder: { consumer, token_hash: hashOf(work), client_id, grant_id: token?.grant_id ?? null },
  };
}

/** Claims what is ready, and copies items from the feed until there are enough or the feed has no more. */
async function claimReady(
  work: Work,
  { position: start, last_number, max_attempts }: LockedInbox,
  claims: readonly Claim[],
): Promise<ClaimedItem[][]> {
  const {
    db: { inboxClaims, feed },
  } = work;
  const { agent_id } = work.actor;
  const claimed = claims.map((): ClaimedItem[] => []);
  const claimMissing = () =>
    claims.flatMap(async (claim, at) => {
      const max = claim.max - (claimed[at]?.length ?? 0);
      if (max > 0) claimed[at]?.push(...(await inboxClaims.claim(agent_id, { ...claim, max })));
    });
  const [ended] = await Promise.all([inboxClaims.endExpired(agent_id, max_attempts), ...claimMissing()]);
  announceDeadItems(work, agent_id, ended);
  await returnTasks(work, ended);
  let position = start;
  for (let step = 0; position < last_number && step < maxSteps; step += 1) {
    if (claims.every(({ max }, at) => claimed[at]?.length === max)) break;
    const [entries = []] = await feed.read([{ agent_id, after: position }], entriesPerStep);
    position = entries.at(-1)?.number ?? last_number;
    await Promise.all([inboxClaims.materialize(agent_id, { entries, position }), ...claimMissing()]);
  }
  return claimed;
}

/** Joins leases with their events. An event that is no longer kept has nothing to handle: its item leaves the inbox. */
async function withEvents(work: Work, items: readonly ClaimedItem[], tasks: readonly TaskRow[]) {
  if (items.length === 0) return [];
  const { agent_id } = work.actor;
  const [events, relationships] = await Promise.all([
    work.db.feed.readEvents(items.map(({ event_id }) => event_id)),
    readRelationships(
      work,
      items.flatMap(({ sender_id }) => sender_id ?? []),
    ),
  ]);
  const notes = new Map(tasks.map((task) => [task.message_id, describeOpenTask(task)]));
  const eventsById = new Map(events.map((event) => [event.id, event]));
  const lost = items.filter(({ event_id }) => !eventsById.has(event_id));
  if (lost.length > 0) {
    const tokens = lost.map(({ fencing_token }) => fencing_token);
    await work.db.inboxLeases.acknowledge(agent_id, tokens);
  }
  return items.flatMap(({ number, event_id, sender_id, attempts, fencing_token, expires_at }) => {
    const event = eventsById.get(event_id);
    if (!event) return [];
    const lease_id = toLeaseId(agent_id, fencing_token);
    const task_note = event.message ? notes.get(event.message.id) : undefined;
    return {
      id: lease_id,
      lease_id,
      fencing_token,
      attempt: attempts,
      expires_at,
      relationship: sender_id === null ? undefined : (relationships.get(sender_id) ?? ('none' as const)),
      ...(task_note !== undefined && { task_note }),
      event,
      cursor: work.settings.cursors.encodeFeed(agent_id, number),
    };
  });
}

/** When the next item of the actor's inbox can be ready; for claims that wait. */
export async function findNextItem({
  db: { inboxes },
  actor,
}: Pick<Work, 'db' | 'actor'>): Promise<NextItem> {
  const next = await inboxes.findNext(actor.agent_id);
  if (!next) throw inboxNotFound();
  return next;
}

function tokenRevoked(): DomainError {
  return new DomainError('UNAUTHORIZED', 'This access token was revoked; request a new one.');
}

function missingScope(): DomainError {
  const message = 'The token cannot see the events of this inbox.';
  return new DomainError('INSUFFICIENT_SCOPE', message, { scope: 'threads:read' });
}

function tooManyLeases(): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    `An agent can have ${maxLeases} leases at a time. Acknowledge or release some.`,
    { retry_after: 1 },
  );
}
