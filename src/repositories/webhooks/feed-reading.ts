import { typesByScope } from '../../domain/webhooks.ts';
import { type Queryable, statement } from '../queryable.ts';

/** How a webhook read on in its agent's feed. */
export interface WebhookProgress {
  webhook_id: string;
  /** Lines of the feed that were read, and how many of them are to be posted. */
  lines: number;
  noted: number;
}

/**
 * What is new in the feeds of these agents, for each of their webhooks. Two at once wait for each other at the webhook, and each
 * goes on where the other one stopped: every line is read once.
 */
const note = statement(
  'webhook_notes.note',
  `with webhook as (
     select id, agent_id, event_types, scopes, only_when_offline, noted_number from webhooks
     where agent_id = any($1) and enabled order by id for no key update
   ), line as (
     select w.*, f.number, f.event_id, e.type from webhook w
     cross join lateral (
       select number, event_id from feed where agent_id = w.agent_id and number > w.noted_number order by number limit $2) f
     left join events e on e.id = f.event_id
   ), delivery as (
     insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, next_at, created_at)
     select id, event_id, type, number, 'pending', $3::bigint, $3::bigint from line l
     where (event_types is null or type = any(event_types)) and not (only_when_offline and agent_id = any($4))
       and exists (select 1 from unnest($5::text[], $6::text[]) s (type, scope) where s.type = l.type and s.scope = any(l.scopes))
     on conflict do nothing
     returning webhook_id
   ), read as (
     select id, max(number) as last, count(*)::int as lines from line group by id
   ), moved as (
     update webhooks w set noted_number = read.last from read where w.id = read.id
   )
   select id as webhook_id, lines, (select count(*)::int from delivery d where d.webhook_id = read.id) as noted from read`,
);

const types = typesByScope.map(({ type }) => type);
const scopes = typesByScope.map(({ scope }) => scope);

/** Webhooks as readers of feeds: one statement takes over what a feed has for them. */
export function webhookFeedsRepository(db: Queryable) {
  return {
    /**
     * Notes what these agents' webhooks have to post, up to `limit` lines of the feed for each; answers those that read any.
     * @param online agents whose webhooks for offline times have nothing to do.
     */
    queueDeliveries(
      agentIds: readonly string[],
      { online, limit, now }: { online: readonly string[]; limit: number; now: number },
    ): Promise<WebhookProgress[]> {
      return db.query<WebhookProgress>(note, [agentIds, limit, now, online, types, scopes]);
    },
  };
}
