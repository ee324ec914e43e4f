import type { OwnerRow } from '../people/owners.ts';
import { repository, sql } from '../sql.ts';

export type FoundOwner = Pick<OwnerRow, 'kind' | 'name'> & { display_name: string };

export const ownerSearchRepository = repository({
  /**
   * Best matches first. `text` is a result of agentSearch.fold. Owners whose name begins with `text` or is similar, and that the
   * viewer may see: those with a public agent, its own account and organizations, and the members of these. Owners with public agents are found
   * by the index of handles, owner by owner: the handles of an owner are adjacent, and those of the next owner sort after "name/", since
   * "/" follows "." in ASCII.
   */
  list: sql.rows<[viewerId: string, text: string, limit: number], FoundOwner>(
    'owner_search.list(viewer_id, text, limit)',
    `with recursive own as materialized (
     select me.owner_id as id from agents me where me.id = :viewer_id
     union select me.member_account_id from agents me where me.id = :viewer_id
     union select o.organization_id from agents me
       join organization_members o on o.account_id = coalesce(me.member_account_id, me.owner_id) where me.id = :viewer_id
   ), related as materialized (
     select id from own union select m.account_id from own join organization_members m on m.organization_id = own.id
   ), walk as (
     (select a.owner_id, a.canonical_handle from agents a
      where a.visibility = 'public' and a.retired_at is null
        and a.canonical_handle >= :text and a.canonical_handle < :text || chr(1114111)
      order by a.canonical_handle limit 1)
     union all
     select next.owner_id, next.canonical_handle from walk cross join lateral (
       select a.owner_id, a.canonical_handle from agents a
       where a.visibility = 'public' and a.retired_at is null
         and a.canonical_handle > split_part(walk.canonical_handle, '.', 1) || '/' and a.canonical_handle < :text || chr(1114111)
       order by a.canonical_handle limit 1) next
   ), candidate as (
     (select owner_id as id from walk limit :limit)
     union select id from related
     union select a.owner_id from public_agents_like(:text, 1000) s join agents a using (id) where octet_length(:text) >= 3
   )
   select o.kind, o.name, coalesce(o.display_name, o.name) as display_name from owners o where o.id = any (array(select id from candidate))
     and (starts_with(o.name, :text) or octet_length(:text) >= 3 and word_similarity(:text, o.name) >= 0.3)
   order by starts_with(o.name, :text) desc, case when starts_with(o.name, :text) then 0 else 1 - word_similarity(:text, o.name) end, o.name
   limit :limit`,
  ),
});
