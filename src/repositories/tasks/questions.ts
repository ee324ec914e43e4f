/**
 * For the agents `mine` (id): the open questions that they ask or are asked, one row for each agent that is to answer. Those are the open
 * tasks, and the messages that expect a reply. A task that waits for its client is a question to the client.
 */
export const questionsOfMine = `
  select q.thread_id, q.id as task_id, q.message_id, q.state, q.overdue_at is not null as overdue, q.asks_person,
    case when w.is_back then q.agent_id else q.client_id end as asker_id, case when w.is_back then q.client_id else q.agent_id end as asked_id,
    case when w.is_back then q.updated_at else q.created_at end as since,
    case when w.is_back then (select max(sequence) from task_messages where task_id = q.id) else q.sequence end as sequence
  from tasks q cross join lateral (select q.state in ('input_required', 'auth_required') as is_back) w
  where q.ended_at is null and (q.client_id = any(array(select id from mine)) or q.agent_id = any(array(select id from mine)))
  union all
  select e.thread_id, null, e.message_id, null, false, e.asks_person, e.sender_id, e.asked_id, e.created_at, e.sequence
  from expected_replies e where e.sender_id = any(array(select id from mine)) or e.asked_id = any(array(select id from mine))`;
