import { hideFromPlanner } from '../queryable.ts';

/**
 * The columns of a Relation between the agent `a` and the agent `viewer` of the owner `viewer_owner`, for a lateral join. Agents of an
 * organization are related; personal agents of its members are not.
 */
export const relationOf = `select
  a.id = viewer.id as self,
  a.owner_id = viewer.owner_id and viewer_owner.kind = 'account' as same_owner,
  a.owner_id = viewer.owner_id and viewer_owner.kind = 'organization' as same_organization,
  exists (select from contacts c where c.agent_id = viewer.id and c.contact_id = a.id) as contact,
  exists (select from allowlist_entries e where e.agent_id = a.id
          and e.entry in (viewer.canonical_handle, viewer_owner.name || '.*')) as allowlisted,
  exists (select from blocks b where b.agent_id = a.id and b.blocked_agent_id = viewer.id) as blocked_by_them,
  exists (select from blocks b where b.agent_id = viewer.id and b.blocked_agent_id = a.id) as blocked_by_viewer`;

/** For `:viewer_id` and `:references` (ids or canonical handles): agents, their relation to the viewer, and whether the viewer sees them. */
export const seenAgents = (columns: string): string => `select ${columns}, r.*,
   (a.visibility <> 'private' or r.self or r.same_owner or r.same_organization or r.contact
     or exists (select from thread_members m join thread_members t using (thread_id)
                where m.agent_id = viewer.id and t.agent_id = a.id)
     or exists (select from contact_requests q where q.from_agent_id = a.id and q.to_agent_id = viewer.id)) as visible
 from agents a
 join agents viewer on viewer.id = ${hideFromPlanner(':viewer_id', 'text')}
 join owners viewer_owner on viewer_owner.id = viewer.owner_id
 cross join lateral (${relationOf}) r
 where (a.id = any(:references::text[]) or a.canonical_handle = any(:references::text[])) and a.retired_at is null`;
