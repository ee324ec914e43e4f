import type { DisabledReason } from '../../../packages/core/src/domain/webhooks.ts';
import { type Queryable, statement, query } from '../queryable.ts';

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
  secret, previous_secret, previous_secret_until, created_at, updated_at`;

/** The end of the agent's feed: later events are sent. */
const feedPosition = '(select last_number from feed_heads where agent_id = :agent_id)';

const statements = {
  insert: statement(
    'webhooks.insert',
    `insert into webhooks (id, agent_id, url, description, event_types, scopes, only_when_offline, secret, noted_number,
       created_at, updated_at)
     values (:id, :agent_id, :url, :description, :event_types, :scopes, :only_when_offline, :secret, coalesce(${feedPosition}, 0), :created_at, :created_at) returning ${columns}`,
  ),
  count: statement(
    'webhooks.count',
    'select count(*)::int as count from webhooks where agent_id = :agent_id',
  ),
  list: statement('webhooks.list', `select ${columns} from webhooks where agent_id = :agent_id order by id`),
  find: statement('webhooks.find', `select ${columns} from webhooks where id = :id`),
  lock: statement(
    'webhooks.lock',
    `select ${columns} from webhooks where id = :id and agent_id = :agent_id for no key update`,
  ),
  update: statement(
    'webhooks.update',
    `update webhooks set url = :url, description = :description, event_types = :event_types, scopes = :scopes, only_when_offline = :only_when_offline, enabled = :enabled,
       disabled_reason = case when :enabled then null when enabled then 'by_request' else disabled_reason end,
       disabled_at = case when :enabled then null when enabled then :now::bigint else disabled_at end,
       noted_number = case when :enabled and not enabled then ${feedPosition} else noted_number end, updated_at = :now
     where id = :id and agent_id = :agent_id returning ${columns}`,
  ),
  setSecret: statement(
    'webhooks.set_secret',
    `update webhooks set previous_secret = secret, previous_secret_until = :until, secret = :secret, updated_at = :now
     where id = :id and agent_id = :agent_id returning ${columns}`,
  ),
  disable: statement(
    'webhooks.disable',
    `update webhooks set enabled = false, disabled_reason = :reason, disabled_at = :now
     where id = :id and enabled returning id`,
  ),
  remove: statement(
    'webhooks.remove',
    'delete from webhooks where id = :id and agent_id = :agent_id returning id',
  ),
  removeAllOf: statement(
    'webhooks.remove_all_of',
    'delete from webhooks where agent_id = :agent_id returning id',
  ),
  removeOfMember: statement(
    'webhooks.remove_of_member',
    `delete from webhooks w using agents a
     where a.owner_id = :organization_id and a.member_account_id = :account_id and w.agent_id = a.id returning w.id`,
  ),
};

export function webhooksRepository(db: Queryable) {
  return {
    /** Inserts a webhook that starts at the end of the feed. */
    async insert(
      webhook: WebhookDescription & Pick<WebhookRow, 'id' | 'agent_id' | 'secret' | 'created_at'>,
    ): Promise<WebhookRow | undefined> {
      const { id, agent_id, url, description, event_types, scopes, only_when_offline } = webhook;
      const { secret, created_at } = webhook;
      const settings = { url, description, event_types, scopes, only_when_offline };
      return (
        await query<WebhookRow>(db, statements.insert, { id, agent_id, ...settings, secret, created_at })
      )[0];
    },
    /** The number of webhooks of an agent. */
    async count(agentId: string): Promise<number> {
      return (await query<{ count: number }>(db, statements.count, { agent_id: agentId }))[0]?.count ?? 0;
    },
    /** Webhooks of an agent, oldest first. */
    list(agentId: string): Promise<WebhookRow[]> {
      return query<WebhookRow>(db, statements.list, { agent_id: agentId });
    },
    async find(id: string): Promise<WebhookRow | undefined> {
      return (await query<WebhookRow>(db, statements.find, { id }))[0];
    },
    /** A webhook of an agent, locked until the transaction ends. */
    async lock(id: string, agentId: string): Promise<WebhookRow | undefined> {
      return (await query<WebhookRow>(db, statements.lock, { id, agent_id: agentId }))[0];
    },
    /** Enabling a webhook clears the reason why it was disabled, and starts at the end of the feed. */
    async update(
      id: string,
      agentId: string,
      settings: WebhookSettings,
      now: number,
    ): Promise<WebhookRow | undefined> {
      const { url, description, event_types, scopes, only_when_offline, enabled } = settings;
      const changes = { url, description, event_types, scopes, only_when_offline, enabled };
      return (await query<WebhookRow>(db, statements.update, { id, agent_id: agentId, ...changes, now }))[0];
    },
    /** Replaces the secret. The previous one signs too until `time.until`. */
    async setSecret(
      id: string,
      agentId: string,
      secret: Buffer,
      time: { until: number; now: number },
    ): Promise<WebhookRow | undefined> {
      const values = { id, agent_id: agentId, secret, until: time.until, now: time.now };
      return (await query<WebhookRow>(db, statements.setSecret, values))[0];
    },
    /** Returns false when it is disabled already. */
    async disable(id: string, reason: DisabledReason, now: number): Promise<boolean> {
      return (await query(db, statements.disable, { id, reason, now })).length > 0;
    },
    /** Returns false when the agent has no such webhook. */
    async remove(id: string, agentId: string): Promise<boolean> {
      return (await query(db, statements.remove, { id, agent_id: agentId })).length > 0;
    },
    /** Removes all webhooks of an agent; returns their ids. */
    async removeAllOf(agentId: string): Promise<string[]> {
      return (await query<{ id: string }>(db, statements.removeAllOf, { agent_id: agentId })).map(
        ({ id }) => id,
      );
    },
    /** Removes the webhooks of agents of an organization that are linked with this account; returns their ids. */
    async removeOfMember(organizationId: string, accountId: string): Promise<string[]> {
      const values = { organization_id: organizationId, account_id: accountId };
      return (await query<{ id: string }>(db, statements.removeOfMember, values)).map(({ id }) => id);
    },
  };
}
