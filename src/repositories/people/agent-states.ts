import { previewOf } from '../messages/messages.ts';
import { repository, sql } from '../sql.ts';
import { unreadCount } from '../threads/threads.ts';

/** What an agent does and what is wrong with it. */
export interface AgentStateRow {
  agent_id: string;
  /** The beginning of the latest message of its threads. */
  last_text: string | null;
  last_message_at: number | null;
  /** Without the threads that the reading person has muted or that are done for the person. */
  unread: number;
  open_tasks: number;
  overdue_tasks: number;
  /** Items of the inbox that were copied from the feed; null without an inbox. */
  ready: number | null;
  leased: number;
  dead: number;
  /** Webhooks that were disabled because their receiver failed. */
  failing_webhooks: number;
  /** When the previous secret of a credential ends, in milliseconds. */
  secret_ends_at: number | null;
}

const maxPreviewCharacters = 120;

export const agentStatesRepository = repository({
  /** The states of these agents for a person at `now` (ms). Reads the row of every thread of theirs. */
  list: sql.rows<[agentIds: readonly string[], accountId: string, now: number], AgentStateRow>(
    'agent_states.list(agent_ids, account_id, now)',
    `select a.id as agent_id, m.text as last_text, s.last_message_at, s.unread, k.open_tasks, k.overdue_tasks, i.ready, i.leased, i.dead,
       (select count(*)::int from webhooks w
        where w.agent_id = a.id and not w.enabled and w.disabled_reason in ('gone', 'failing')) as failing_webhooks,
       (select min(c.previous_secret_until) from credentials c
        where c.agent_id = a.id and c.revoked_at is null and c.previous_secret_until > :now) as secret_ends_at
     from unnest(:agent_ids::text[]) a(id)
     cross join lateral (
       select max(t.last_message_at) as last_message_at, coalesce(sum(case when ${unreadCount} = 0 then 0 when exists (
           select from thread_marks k where k.account_id = :account_id and k.thread_id = t.id and (k.muted or k.done_sequence >= t.last_sequence)
         ) then 0 else ${unreadCount} end), 0)::int as unread,
         (array_agg(t.id order by t.last_message_at desc nulls last))[1] as thread_id
       from (select * from thread_members where agent_id = a.id offset 0) v
       cross join lateral (select * from threads where id = v.thread_id limit 1) t where t.status <> 'archived'
     ) s
     left join lateral (
       select ${previewOf(maxPreviewCharacters)} as text from threads t join messages m
         on m.thread_id = t.id and m.sequence = t.last_sequence where t.id = s.thread_id limit 1
     ) m on true
     cross join lateral (
       select count(*)::int as open_tasks, (count(*) filter (where q.overdue_at is not null))::int as overdue_tasks
       from tasks q where q.agent_id = a.id and q.ended_at is null
     ) k
     cross join lateral (
       select case when exists (select from inboxes b where b.agent_id = a.id)
           then (count(*) filter (where x.state in ('queued', 'ready')))::int end as ready,
         (count(*) filter (where x.state = 'leased'))::int as leased, (count(*) filter (where x.state = 'dead'))::int as dead
       from inbox_items x where x.agent_id = a.id and x.state in ('queued', 'ready', 'leased', 'dead')
     ) i`,
    (agentIds, accountId, now) => ({ agent_ids: agentIds, account_id: accountId, now }),
  ),
});
