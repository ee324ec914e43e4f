import { repository, sql } from '../sql.ts';
import { notingSequences, outgoingOfThreads } from '../remote/threads.ts';

/** A subscription of an MCP client. Times are in milliseconds. */
export interface EventSubscriptionRow {
  id: string;
  agent_id: string;
  client_id: string;
  grant_id: string | null;
  /** SHA-256 of the token with which the subscription ends; null if it ends with its grant or credential. */
  token_hash: Buffer | null;
  url: string;
  event_type: string;
  arguments: Record<string, unknown>;
  scopes: string[];
  dialect: 'sketch' | 'sep3415';
  /** Encrypted, as is the previous one. */
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: number | null;
  /** The number of the last feed entry that was delivered or left out. */
  position: number;
  oldest_at: number;
  /** Whether the receiver has to be told that events are missing. */
  has_gap: boolean;
  active: boolean;
  attempts: number;
  next_at: number;
  last_delivery_at: number | null;
  last_error: string | null;
  failed_since: number | null;
  hold_ms: number;
  last_call_at: number | null;
  /** How often the client has renewed it. */
  renewals: number;
  expires_at: number;
}

/** A subscription with its agent, and whether the agent and its client still have access. */
export interface ClaimedSubscription extends EventSubscriptionRow {
  handle: string;
  is_permitted: boolean;
}

/** A subscription as people see it. */
export interface DescribedSubscription extends Pick<
  EventSubscriptionRow,
  'id' | 'client_id' | 'url' | 'event_type' | 'arguments' | 'active' | 'last_error' | 'failed_since'
> {
  last_delivery_at: number | null;
  expires_at: number;
  created_at: number;
  /** As declared by the client that a person connected; null without one. */
  client_name: string | null;
  /** The label of the credential of the client; null without one. */
  credential_name: string | null;
}

type NewSubscription = Omit<
  EventSubscriptionRow,
  | 'previous_secret'
  | 'previous_secret_until'
  | 'has_gap'
  | 'active'
  | 'attempts'
  | 'next_at'
  | 'last_delivery_at'
  | 'last_error'
  | 'failed_since'
  | 'last_call_at'
  | 'renewals'
>;

export type DeliveryState = Pick<
  EventSubscriptionRow,
  | 'position'
  | 'has_gap'
  | 'active'
  | 'attempts'
  | 'next_at'
  | 'renewals'
  | 'last_delivery_at'
  | 'last_error'
  | 'failed_since'
>;

const columns = `id, agent_id, client_id, grant_id, token_hash, url, event_type, arguments, scopes, dialect, secret, previous_secret, previous_secret_until,
  position, oldest_at, has_gap, active, attempts, next_at, last_delivery_at, last_error, failed_since, hold_ms, last_call_at, renewals, expires_at`;

const isPermitted = `a.retired_at is null
       and (s.grant_id is null or exists (select from client_grants g where g.grant_id = s.grant_id))
       and (s.token_hash is null or exists (select from access_tokens t where t.token_hash = s.token_hash))
       and not exists (select from credentials c where c.client_id = s.client_id and c.revoked_at is not null)`;

const due = `event_subscriptions s join agents a on a.id = s.agent_id
     where s.next_at <= :now and (s.expires_at <= :now or not (${isPermitted}) or (s.active and (s.has_gap
       or s.position < (select last_number from feed_heads h where h.agent_id = s.agent_id))))`;

export const eventSubscriptionsRepository = repository({
  find: sql.row<[id: string], EventSubscriptionRow>(
    'event_subscriptions.find',
    `select ${columns} from event_subscriptions where id = :id`,
  ),
  /** Serializes the changes of the number of subscriptions of an agent. */
  lock: sql.run<[agentId: string]>(
    'event_subscriptions.lock',
    `select pg_advisory_xact_lock(hashtextextended('event_subscriptions:' || :agent_id, 0))`,
  ),
  /** The subscriptions of an agent that have not expired. */
  list: sql.rows<[agentId: string, now: number], EventSubscriptionRow>(
    'event_subscriptions.list(agent_id, now)',
    `select ${columns} from event_subscriptions where agent_id = :agent_id and expires_at > :now`,
  ),
  /** The same with their clients, newest first. */
  listDescribed: sql.rows<[agentId: string, now: number], DescribedSubscription>(
    'event_subscriptions.list_described(agent_id, now)',
    `select s.id, s.client_id, s.url, s.event_type, s.arguments, s.active, s.last_error, s.failed_since, s.last_delivery_at, s.expires_at, s.created_at,
         g.client_name, c.name as credential_name
       from event_subscriptions s left join client_grants g on g.grant_id = s.grant_id left join credentials c on c.client_id = s.client_id
       where s.agent_id = :agent_id and s.expires_at > :now order by s.created_at desc, s.id`,
  ),
  /** Returns false when there is none. */
  remove: sql.hasRow<[id: string, agentId: string]>(
    'event_subscriptions.remove(id, agent_id)',
    'delete from event_subscriptions where id = :id and agent_id = :agent_id returning id',
  ),
  /** Removes a claimed subscription. Returns false if the lease has ended, or the client has renewed the subscription since the claim. */
  removeClaimed: sql.hasRow<[claimedSubscription: ClaimedSubscription]>(
    'event_subscriptions.remove_claimed',
    'delete from event_subscriptions where id = :id and next_at = :next_at and renewals = :renewals returning id',
  ),
  /** Records that the client of subscriptions makes calls. */
  recordCall: sql.run<[agentId: string, clientId: string, now: number]>(
    'event_subscriptions.record_call(agent_id, client_id, now)',
    `update event_subscriptions set last_call_at = :now where agent_id = :agent_id and client_id = :client_id and hold_ms > 0`,
  ),
  /** Whether the agent of a subscription and its client still have access. */
  isPermitted: sql.hasRow<[id: string]>(
    'event_subscriptions.is_permitted',
    `select 1 from event_subscriptions s join agents a on a.id = s.agent_id where s.id = :id and ${isPermitted}`,
  ),
  /** No other process gets the subscription for `leaseMs`. Returns undefined while another one has it, or before it is due. */
  claim: sql.row<[id: string, now: number, leaseMs: number], ClaimedSubscription>(
    'event_subscriptions.claim(id, now, lease_ms)',
    `update event_subscriptions s set next_at = :now::bigint + :lease_ms::bigint from agents a
       where s.id = :id and a.id = s.agent_id and s.next_at <= :now
       returning ${columns.replaceAll(/\b(\w+)\b/g, 's.$1')}, a.canonical_handle as handle, (${isPermitted}) as is_permitted`,
  ),
  /**
   * Stores the state of a claimed subscription. Returns undefined if the lease has ended. Only the holder of the lease can store. A
   * renewal since the claim keeps the subscription active, with all its attempts.
   */
  store: sql.row<[id: string, lease: number, state: DeliveryState], { last_call_at: number | null }>(
    'event_subscriptions.store(id, lease, ...)',
    `update event_subscriptions set position = :position, has_gap = :has_gap, next_at = :next_at,
         active = :active or renewals <> :renewals,
         attempts = case when :active or renewals = :renewals then :attempts::int else 0 end,
         last_delivery_at = :last_delivery_at, last_error = :last_error, failed_since = :failed_since
       where id = :id and next_at = :lease returning last_call_at`,
  ),
  /**
   * The subscriptions of these agents that no process has, the push configs of their tasks with an update to send, and those of these threads
   * that have a message for a remote agent.
   */
  listReceivers: sql.values<[agentIds: readonly string[], threadIds: readonly string[], now: number], string>(
    'event_subscriptions.list_receivers(agent_ids, thread_ids, now)',
    `with ${notingSequences}
       select id from event_subscriptions where agent_id = any(:agent_ids::text[]) and active and next_at <= :now
       union all select c.task_id || '/' || c.id from a2a_push_configs c join tasks t on t.id = c.task_id
       where c.client_id = any(:agent_ids::text[]) and c.next_at <= :now and c.position < t.generation
       union all ${outgoingOfThreads}`,
  ),
  /** Up to `limit` subscriptions after this id that have something to do at `now`: events, a gap, or their end. */
  listDue: sql.values<[now: number, after: string, limit: number], string>(
    'event_subscriptions.list_due(now, after, limit)',
    `select s.id from ${due} and s.id > :after order by s.id limit :limit`,
  ),
  /** Whether a subscription is one of `listDue`. */
  isDue: sql.hasRow<[id: string, now: number]>(
    'event_subscriptions.is_due(id, now)',
    `select 1 from ${due} and s.id = :id`,
  ),
  /**
   * Inserts a subscription, or renews the one with this id, whose position stays. `previous` is what happens to the previous secret: it stays, is
   * replaced by the current one until `rotated_until`, or is removed.
   */
  put: sql.single<
    [
      row: NewSubscription,
      time: { now: number; previous: 'keep' | 'replace' | 'remove'; rotated_until: number },
    ],
    EventSubscriptionRow
  >(
    'event_subscriptions.put',
    `insert into event_subscriptions as s (id, agent_id, client_id, grant_id, token_hash, url, event_type, arguments, scopes, dialect, secret, position, oldest_at,
       hold_ms, expires_at, next_at, created_at)
     values (:id, :agent_id, :client_id, :grant_id, :token_hash, :url, :event_type, :arguments, :scopes, :dialect, :secret, :position, :oldest_at,
       :hold_ms, :expires_at, :now, :now)
     on conflict (id) do update set grant_id = excluded.grant_id, token_hash = excluded.token_hash, scopes = excluded.scopes, dialect = excluded.dialect, hold_ms = excluded.hold_ms,
       expires_at = excluded.expires_at, active = true, renewals = s.renewals + 1,
       attempts = case when s.active then s.attempts else 0 end,
       next_at = case when s.active then s.next_at else :now::bigint end,
       secret = excluded.secret,
       previous_secret = case :previous::text when 'replace' then s.secret when 'keep' then s.previous_secret end,
       previous_secret_until = case :previous::text when 'replace' then :rotated_until::bigint
         when 'keep' then s.previous_secret_until end
     returning ${columns}`,
    (row, time) => ({ ...row, arguments: JSON.stringify(row.arguments), ...time }),
  ),
});
