import { type DisabledReason, maxAttemptGapMs } from '../../../packages/core/src/domain/webhooks.ts';
import { repository, sql } from '../sql.ts';

/** A URL that receives events of an agent. Times are in milliseconds. */
export interface WebhookRow {
  id: string;
  agent_id: string;
  url: string;
  description: string;
  /** Null: all types that the scopes permit. */
  event_types: string[] | null;
  /** The scopes of the token that set the URL. */
  scopes: string[];
  only_when_offline: boolean;
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  /** Encrypted, as is the previous one. */
  secret: Buffer;
  previous_secret: Buffer | null;
  /** Until when the previous secret signs too. */
  previous_secret_until: number | null;
  /** The first failed attempt since the last delivered one; null without one. */
  failing_since: number | null;
  created_at: number;
  updated_at: number;
}

type WebhookDescription = Pick<
  WebhookRow,
  'url' | 'description' | 'event_types' | 'scopes' | 'only_when_offline'
>;

/** What its owner can set. */
export type WebhookSettings = WebhookDescription & Pick<WebhookRow, 'enabled'>;

const columns = `id, agent_id, url, description, event_types, scopes, only_when_offline, enabled, disabled_reason, disabled_at,
  secret, previous_secret, previous_secret_until, failing_since, created_at, updated_at`;

/** The end of the agent's feed: later events are sent. */
const feedPosition = '(select last_number from feed_heads where agent_id = :agent_id)';

export const webhooksRepository = repository({
  /** Inserts a webhook that starts at the end of the feed. */
  insert: sql.row<
    [webhook: WebhookDescription & Pick<WebhookRow, 'id' | 'agent_id' | 'secret' | 'created_at'>],
    WebhookRow
  >(
    'webhooks.insert',
    `insert into webhooks (id, agent_id, url, description, event_types, scopes, only_when_offline, secret, noted_number,
       created_at, updated_at)
     values (:id, :agent_id, :url, :description, :event_types, :scopes, :only_when_offline, :secret, coalesce(${feedPosition}, 0), :created_at, :created_at) returning ${columns}`,
  ),
  /** The number of webhooks of an agent. */
  count: sql.value<[agentId: string], number>(
    'webhooks.count',
    'select count(*)::int as count from webhooks where agent_id = :agent_id',
  ),
  /** Webhooks of an agent, oldest first. */
  list: sql.rows<[agentId: string], WebhookRow>(
    'webhooks.list',
    `select ${columns} from webhooks where agent_id = :agent_id order by id`,
  ),
  find: sql.row<[id: string], WebhookRow>('webhooks.find', `select ${columns} from webhooks where id = :id`),
  /** A webhook of an agent, locked until the transaction ends. */
  lock: sql.row<[id: string, agentId: string], WebhookRow>(
    'webhooks.lock(id, agent_id)',
    `select ${columns} from webhooks where id = :id and agent_id = :agent_id for no key update`,
  ),
  /** Enabling a webhook clears the reason why it was disabled, and starts at the end of the feed. Another URL has no failed attempts. */
  update: sql.row<[id: string, agentId: string, settings: WebhookSettings, now: number], WebhookRow>(
    'webhooks.update(id, agent_id, ..., now)',
    `update webhooks set url = :url, description = :description, event_types = :event_types, scopes = :scopes, only_when_offline = :only_when_offline, enabled = :enabled,
       disabled_reason = case when :enabled then null when enabled then 'by_request' else disabled_reason end,
       disabled_at = case when :enabled then null when enabled then :now::bigint else disabled_at end,
       noted_number = case when :enabled and not enabled then ${feedPosition} else noted_number end,
       failing_since = case when enabled and url = :url then failing_since end, updated_at = :now
     where id = :id and agent_id = :agent_id returning ${columns}`,
  ),
  /** Replaces the secret. The previous one signs too until `time.until`. */
  setSecret: sql.row<
    [id: string, agentId: string, secret: Buffer, time: { until: number; now: number }],
    WebhookRow
  >(
    'webhooks.set_secret(id, agent_id, secret, ...)',
    `update webhooks set previous_secret = secret, previous_secret_until = :until, secret = :secret, updated_at = :now
     where id = :id and agent_id = :agent_id returning ${columns}`,
  ),
  /** Notes a failed attempt. It counts as the first one also if there was none for so long that no worker can have been running. */
  noteFailure: sql.run<[id: string, isFirst: boolean, now: number]>(
    'webhooks.note_failure(id, is_first, now)',
    `update webhooks set failed_at = :now, failing_since =
       case when not :is_first and failed_at > :now::bigint - ${maxAttemptGapMs} then failing_since else :now end where id = :id`,
  ),
  /** After a delivered attempt, and when what failed is no longer attempted. */
  clearFailure: sql.run<[id: string]>(
    'webhooks.clear_failure',
    `update webhooks set failing_since = null where id = :id and failing_since is not null`,
  ),
  /** Returns false when it is disabled already, or has not failed since `failingBefore` (ms), if that is given. */
  disable: sql.hasRow<[id: string, reason: DisabledReason, now: number, failingBefore?: number]>(
    'webhooks.disable(id, reason, now, failing_before)',
    `update webhooks set enabled = false, disabled_reason = :reason, disabled_at = :now
     where id = :id and enabled and (:failing_before::bigint is null or failing_since <= :failing_before) returning id`,
  ),
  /** Returns false when the agent has no such webhook. */
  remove: sql.hasRow<[id: string, agentId: string]>(
    'webhooks.remove(id, agent_id)',
    'delete from webhooks where id = :id and agent_id = :agent_id returning id',
  ),
  /** Removes all webhooks of an agent; returns their ids. */
  removeAllOf: sql.values<[agentId: string], string>(
    'webhooks.remove_all_of',
    'delete from webhooks where agent_id = :agent_id returning id',
  ),
  /** Removes the webhooks of agents of an organization that are linked with this account; returns their ids. */
  removeOfMember: sql.values<[organizationId: string, accountId: string], string>(
    'webhooks.remove_of_member(organization_id, account_id)',
    `delete from webhooks w using agents a
     where a.owner_id = :organization_id and a.member_account_id = :account_id and w.agent_id = a.id returning w.id`,
  ),
});
