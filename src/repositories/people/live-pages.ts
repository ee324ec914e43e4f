import { actedAsByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';

/** What a person may see on an open page now. */
export interface LiveStateRow {
  /** The agents that the person may act as; with a thread, only those that are members of it. */
  agent_ids: string[];
  /** The number of entries in the feeds of these agents. */
  entries: number;
  /** Changes with the pending approvals of these agents and the stored decisions about them, which cause no entry. */
  approvals: number;
  /** Changes with the stored answers to contact requests to these agents. */
  answers: number;
  /** Inboxes with dead items, which cause no entry either. */
  dead_inboxes: number;
}

/** Rights and news of open pages, in one small query each. */
export const livePagesRepository = repository({
  /** Undefined when the session has ended. Looks up each counter by key (offset 0). */
  find: sql.row<[idHash: Buffer, fields: { now: number; thread_id: string | null }], LiveStateRow>(
    'live_pages.find(id_hash, ...)',
    `select coalesce(json_agg(a.id order by a.id) filter (where a.id is not null), '[]') as agent_ids, coalesce(sum(h.last_number), 0)::bigint as entries,
     coalesce(sum(q.pending), 0)::int as approvals, coalesce(sum(c.stored), 0)::int as answers, coalesce(sum(i.dead), 0)::int as dead_inboxes
   from sessions s
   left join lateral (
     select a.id from agents a
     where ${actedAsByPerson('s.account_id')}
       and (:thread_id::text is null or a.id in (select m.agent_id from thread_members m where m.thread_id = :thread_id))
   ) a on true
   left join lateral (select last_number from feed_heads where agent_id = a.id offset 0) h on true
   left join lateral (
     select count(*) + 1000 * count(effective_at) as pending from approvals where agent_id = a.id and state = 'pending' offset 0) q on true
   left join lateral (
     select count(*) + 1000 * count(effective_at) as stored from contact_requests
     where to_agent_id = a.id and status = 'pending' and stored is not null offset 0) c on true
   left join lateral (
     select exists (select from inbox_items where agent_id = a.id and state = 'dead')::int as dead offset 0) i on true
   where s.id_hash = :id_hash and s.expires_at > :now
   group by s.id_hash`,
  ),
});
