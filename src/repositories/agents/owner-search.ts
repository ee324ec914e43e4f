import type { OwnerRow } from '../people/owners.ts';
import { type Queryable, statement } from '../queryable.ts';

export type FoundOwner = Pick<OwnerRow, 'kind' | 'name'> & { display_name: string };

/**
 * Owners whose name begins with $2 or is similar, and that the agent $1 may see: those with a public agent, its own account and
 * organizations, and the members of these. Owners with public agents are found by the index of handles, owner by owner: the handles of an
 * owner are adjacent, and those of the next owner sort after "name/", since "/" follows "." in ASCII.
 */
const list = statement(
  'owner_search.list',
  `with recursive own as materialized (
     select me.owner_id as id from agents me where me.id = $1
     union select me.member_account_id from agents me where me.id = $1
     union select o.organization_id from agents me
       join organization_members o on o.account_id = coalesce(me.member_account_id, me.owner_id) where me.id = $1
   ), related as materialized (
     select id from own union select m.account_id from own join organization_members m on m.organization_id = own.id
   ), walk as (
     (select a.owner_id, a.canonical_handle from agents a
      where a.visibility = 'public' and a.retired_at is null
        and a.canonical_handle >= $2 and a.canonical_handle < $2 || chr(1114111)
      order by a.canonical_handle limit 1)
     union all
     select next.owner_id, next.canonical_handle from walk cross join lateral (
       select a.owner_id, a.canonical_handle from agents a
       where a.visibility = 'public' and a.retired_at is null
         and a.canonical_handle > split_part(walk.canonical_handle, '.', 1) || '/' and a.canonical_handle < $2 || chr(1114111)
       order by a.canonical_handle limit 1) next
   ), candidate as (
     (select owner_id as id from walk limit $3)
     union select id from related
     union select a.owner_id from public_agents_like($2, 1000) s join agents a using (id) where octet_length($2) >= 3
   )
   select o.kind, o.name, coalesce(o.display_name, o.name) as display_name from owners o where o.id = any (array(select id from candidate))
     and (starts_with(o.name, $2) or octet_length($2) >= 3 and word_similarity($2, o.name) >= 0.3)
   order by starts_with(o.name, $2) desc, case when starts_with(o.name, $2) then 0 else 1 - word_similarity($2, o.name) end, o.name
   limit $3`,
);

export function ownerSearchRepository(db: Queryable) {
  return {
    /** Best matches first. `text` is a result of agentSearch.fold. */
    list(viewerId: string, text: string, limit: number): Promise<FoundOwner[]> {
      return db.query<FoundOwner>(list, [viewerId, text, limit]);
    },
  };
}
