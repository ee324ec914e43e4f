/**
 * Selects a feed entry `n` (number, event_id) of the inbox `b`, if it becomes an item: its type is wanted, the agent did not cause it, its
 * message was neither withdrawn nor replaced, and the agent is still a member of its thread. An agent that was removed is told so, by an item without a thread to answer in.
 *
 * `offset 0` makes the planner look up events and messages by key.
 */
export const wantedEntries = `
  select n.number, e.id as event_id, e.message_id, e.type, e.thread_id, m.sequence, m.sender_id
  from (select * from events where id = n.event_id offset 0) e
  left join lateral (select sequence, sender_id, withdrawn_at, replaced_by from messages where id = e.message_id offset 0) m on true
  where e.type = any(b.types) and m.withdrawn_at is null and m.replaced_by is null
    and coalesce(m.sender_id, e.data #>> '{created_by,id}', e.data #>> '{by,id}', e.data #>> '{from,id}') is distinct from b.agent_id
    and (e.thread_id is null or e.type = 'thread.member_removed'
      or exists (select from thread_members t where t.thread_id = e.thread_id and t.agent_id = b.agent_id))`;
