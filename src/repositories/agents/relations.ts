/**
 * What relates the agent `a` to the agent `viewer` of the owner `viewer_owner`: the columns of a Relation, to be joined laterally.
 * Agents that an organization owns belong together; the personal agents of its people do not: they are their person's own.
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
