import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import {
  type CallbackFailure,
  type EventDialect,
  maxSubscriptions,
  previousSecretMs,
  secretBytes,
  subscriptionTtlMs,
} from '../../../packages/core/src/domain/feed/event-dialects.ts';
import type { EventFilter } from '../../../packages/core/src/events/event-filter.ts';
import type { EventType } from '../../../packages/core/src/events/list.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { isWebhookSecret } from '../webhooks/secrets.ts';
import { controlId, type EventSubscription, signRequest, toCallbackFailure } from './requests.ts';

/** The values that identify a subscription, besides its agent and client. */
export interface SubscriptionTarget {
  url: string;
  event_type: EventType;
  arguments: EventFilter;
}

export interface SubscriptionRequest extends SubscriptionTarget {
  /** `whsec_` and Base64. */
  secret: string;
  dialect: EventDialect;
  /** The feed position after which delivery begins, if the subscription is new. */
  start(): Promise<{ cursor: string; truncated: boolean }>;
  /** Called before the receiver is asked; what it throws ends the call. */
  beforeChallenge(): Promise<void>;
  /** Events from before this time are left out, if the subscription is new; ms. */
  oldest_at: number;
  /** The lifetime that the client asks for, in ms; null: no end; undefined: the default. */
  ttl_ms: number | null | undefined;
  hold_ms: number;
}

export type SubscribeOutcome =
  | {
      kind: 'subscribed';
      subscription: EventSubscription;
      /** The state before a renewal. */
      before: EventSubscription | undefined;
      /** The position up to which everything was delivered or left out. */
      cursor: string;
      truncated: boolean;
    }
  | { kind: 'too_many' }
  | { kind: 'callback_error'; reason: CallbackFailure };

type Parts = Pick<UnitOfWork, 'read' | 'write'>;

/**
 * Creates a subscription, or renews the one of the same agent, client, URL, event type and arguments: its position stays. Before a URL gets
 * its first event, it must answer a signed challenge; the answer counts for all live subscriptions of the client with this URL.
 * @throws {DomainError} VALIDATION_ERROR for the URL or the secret; UNAUTHORIZED if the token has ended since the call began
 */
export async function subscribe(
  unitOfWork: Parts,
  outside: Pick<ReadWork, 'settings'>,
  actor: Actor,
  request: SubscriptionRequest,
): Promise<SubscribeOutcome> {
  requireUrl(outside, request.url);
  requireSecret(request.secret);
  const now = Date.now();
  const id = subscriptionId(actor, request);
  const all = await unitOfWork.read(system, ({ db: { eventSubscriptions } }) =>
    eventSubscriptions.list(actor.agent_id, now),
  );
  const before = all.find((one) => one.id === id);
  if (isFull(all, id)) return { kind: 'too_many' };
  const isVerified = all.some((one) => one.client_id === actor.client_id && one.url === request.url);
  const secret = outside.settings.sealedBox.seal(request.secret, id);
  if (!isVerified) {
    await request.beforeChallenge();
    const reason = await challenge(outside, { id, url: request.url, secret });
    if (reason) return { kind: 'callback_error', reason };
  }
  const { cursor, truncated } = before
    ? { cursor: outside.settings.cursors.encodeFeed(actor.agent_id, before.position), truncated: false }
    : await request.start();
  const { url, event_type, dialect, oldest_at, hold_ms, arguments: args } = request;
  const previous = before ? toPrevious(openSecret(outside, before), request.secret) : 'keep';
  const subscription = await unitOfWork.write(system, async (work) => {
    const {
      db: { eventSubscriptions },
    } = work;
    const access = await readAccess(work, actor);
    await eventSubscriptions.lock(actor.agent_id);
    if (isFull(await eventSubscriptions.list(actor.agent_id, now), id)) return undefined;
    // An expired subscription begins again.
    if (!before) await eventSubscriptions.remove(id, actor.agent_id);
    return eventSubscriptions.put(
      {
        id,
        url,
        event_type,
        dialect,
        oldest_at,
        hold_ms,
        secret,
        position: outside.settings.cursors.decodeFeed(actor.agent_id, cursor),
        arguments: { ...args },
        agent_id: actor.agent_id,
        client_id: actor.client_id,
        grant_id: access.grant_id,
        token_hash: access.token_hash,
        scopes: [...actor.scopes],
        expires_at: Math.min(now + grantedTtlMs(request.ttl_ms), access.max_expires_at),
      },
      { now, previous, rotated_until: now + previousSecretMs },
    );
  });
  return subscription
    ? { kind: 'subscribed', subscription, before, cursor, truncated }
    : { kind: 'too_many' };
}

/** Whether an agent with these subscriptions cannot have another one with this id. */
function isFull(subscriptions: readonly EventSubscription[], id: string): boolean {
  return subscriptions.length >= maxSubscriptions && subscriptions.every((one) => one.id !== id);
}

/** Ends a subscription. Returns false if the agent and client do not have it. */
export function unsubscribe(unitOfWork: Parts, actor: Actor, target: SubscriptionTarget): Promise<boolean> {
  const id = subscriptionId(actor, target);
  return unitOfWork.write(system, ({ db: { eventSubscriptions } }) =>
    eventSubscriptions.remove(id, actor.agent_id),
  );
}

/** A subscription as people see it. */
export type DescribedSubscription = Awaited<
  ReturnType<SystemWork['db']['eventSubscriptions']['listDescribed']>
>[number];

/** Returns the subscriptions to events of an agent. */
export function listSubscriptions(
  { db: { eventSubscriptions } }: ReadWork,
  agent_id: string,
): Promise<DescribedSubscription[]> {
  return eventSubscriptions.listDescribed(agent_id, Date.now());
}

/**
 * Ends a subscription for a person. Its client can create it again while it has access.
 * @throws {DomainError} NOT_FOUND, also for one of another agent
 */
export async function endSubscription(
  { db: { eventSubscriptions }, changes: { audit } }: SystemWork,
  agent_id: string,
  id: string,
): Promise<void> {
  if (!(await eventSubscriptions.remove(id, agent_id)))
    throw new DomainError('NOT_FOUND', 'This subscription has already ended.');
  audit({ act: 'subscription.ended', agent_id, about: id });
}

/** A hash of agent, client, URL, event type and arguments. The order of the arguments does not matter. */
function subscriptionId({ agent_id, client_id }: Actor, target: SubscriptionTarget): string {
  const args = Object.entries(target.arguments)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([agent_id, client_id, target.url, target.event_type, args]);
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/**
 * Returns what ends the access of a subscription: the grant of its token, else the credential of its client, else the token itself. It is
 * read after the challenge, for which the receiver takes its time. The worker finds a later revocation.
 * @throws {DomainError} UNAUTHORIZED
 */
async function readAccess({ db: { tokens, credentials }, now }: SystemWork, { token_id, client_id }: Actor) {
  const hash = Buffer.from(token_id, 'base64url');
  const token = await tokens.find(hash);
  if (!token || token.expires_at <= now)
    throw new DomainError('UNAUTHORIZED', 'This access token has ended; request a new one.');
  const { grant_id, expires_at } = token;
  const isLasting = grant_id !== null || (await credentials.findActive(client_id)) !== undefined;
  return isLasting
    ? { grant_id, token_hash: null, max_expires_at: Number.POSITIVE_INFINITY }
    : { grant_id, token_hash: hash, max_expires_at: expires_at };
}

function grantedTtlMs(requestedMs: number | null | undefined): number {
  const { min, max, default: defaultMs } = subscriptionTtlMs;
  return requestedMs === null ? max : Math.min(max, Math.max(min, requestedMs ?? defaultMs));
}

function requireUrl({ settings: { webhookSender } }: Pick<ReadWork, 'settings'>, url: string): void {
  const problem = webhookSender.checkUrl(url);
  if (problem !== undefined) throw wrongField('delivery.url', problem);
}

function requireSecret(secret: string): void {
  if (isWebhookSecret(secret)) return;
  throw wrongField(
    'delivery.secret',
    `must be whsec_ and the Base64 of ${secretBytes.min} to ${secretBytes.max} random bytes`,
  );
}

/** What a renewal does with the previous secret. Nothing can be signed with secrets from before a change of SECRET_KEY. */
function toPrevious(current: string | undefined, next: string) {
  if (current === undefined) return 'remove';
  return current === next ? 'keep' : 'replace';
}

/** Returns undefined if SECRET_KEY has changed. */
function openSecret(
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  { id, secret }: EventSubscription,
): string | undefined {
  try {
    return sealedBox.open(secret, id);
  } catch {
    return undefined;
  }
}

/** Sends a challenge and compares the answer. Returns why the receiver is not verified; undefined if it is. */
async function challenge(
  outside: Pick<ReadWork, 'settings'>,
  target: Pick<EventSubscription, 'id' | 'url' | 'secret'>,
): Promise<CallbackFailure | undefined> {
  const nonce = randomBytes(24).toString('base64url');
  const signer = { ...target, previous_secret: null, previous_secret_until: null };
  const response = await outside.settings.webhookSender.ask(
    signRequest(outside, signer, {
      message_id: controlId('verification'),
      body: { type: 'verification', challenge: nonce },
      now: Date.now(),
    }),
  );
  return toCallbackFailure(response) ?? (isAnswered(response.body, nonce) ? undefined : 'challenge_failed');
}

function isAnswered(body: string, nonce: string): boolean {
  try {
    const answer: unknown = JSON.parse(body);
    const text = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'challenge') : undefined;
    const [received, expected] = [Buffer.from(String(text)), Buffer.from(nonce)];
    return received.length === expected.length && timingSafeEqual(received, expected);
  } catch {
    return false;
  }
}
