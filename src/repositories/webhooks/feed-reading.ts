import { typesByScope } from '../../../packages/core/src/events/feed-event.ts';
import { repository, sql } from '../sql.ts';

/** How far a webhook has read in its agent's feed. */
interface WebhookProgress {
  webhook_id: string;
  /** Feed entries that were read, and how many deliveries were queued for them. */
  entries: number;
  queued: number;
}

const types = typesByScope.map(({ type }) => type);
const scopes = typesByScope.map(({ scope }) => scope);

/** Webhooks as readers of feeds. */
export const webhookFeedsRepository = repository({
  /**
   * Queues deliveries for the webhooks of these agents, from up to `limit` feed entries each. Returns the webhooks that read any. Reads
   * new feed entries for each webhook of these agents. Two concurrent runs wait for each other at the webhook, and the second continues
   * where the first stopped: every entry is read once.
   * @param online agents that are connected: their webhooks with `only_when_offline` skip these entries.
   * @param now in milliseconds.
   */
  queueDeliveries: sql.rows<
    [agentIds: readonly string[], page: { online: readonly string[]; limit: number; now: number }],
    WebhookProgress
  >(
    'webhook_feeds.queue_deliveries',
    `with webhook as (
     select id, agent_id, event_types, scopes, only_when_offline, noted_number from webhooks
     where agent_id = any(:agent_ids) and enabled order by id for no key update
   ), entry as (
     select w.*, f.number, f.event_id, e.type, e.type = 'task.updated' and e.data #>> '{by,id}' = w.agent_id as is_own_change from webhook w
     cross join lateral (
       select number, event_id from feed where agent_id = w.agent_id and number > w.noted_number order by number limit :limit) f
     left join events e on e.id = f.event_id
   ), delivery as (
     insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, next_at, created_at)
     select id, event_id, type, number, 'pending', :now::bigint, :now::bigint from entry
     where is_own_change is not true and (event_types is null or type = any(event_types)) and not (only_when_offline and agent_id = any(:online::text[]))
       and exists (select 1 from unnest(:types::text[], :scopes::text[]) s (type, scope) where s.type = entry.type and s.scope = any(entry.scopes))
     on conflict do nothing
     returning webhook_id
   ), read as (
     select id, max(number) as last, count(*)::int as entries from entry group by id
   ), moved as (
     update webhooks w set noted_number = read.last from read where w.id = read.id
   )
   select id as webhook_id, entries, (select count(*)::int from delivery d where d.webhook_id = read.id) as queued from read`,
    (agentIds, { online, limit, now }) => ({
      agent_ids: agentIds,
      limit,
      now,
      online,
      types,
      scopes,
    }),
  ),
});
