/**
 * What a person may do with agents, as conditions on `agents a`; `account` is the SQL of the person's account id. Roles are looked
 * up each time, so that rights end with the membership.
 */

/** Owners among whose agents those are that the person manages: the index on the owner finds them. */
export const ownersOf = (account: string): string =>
  `select ${account} union all select o.organization_id from organization_members o where o.account_id = ${account}`;

/** In the organization that owns the agent, the person is an admin, or a member and the agent is tied to the person. */
export const managedByRole = (account: string): string =>
  `exists (select from organization_members m
           where m.organization_id = a.owner_id and m.account_id = ${account}
             and (m.role = 'admin' or a.member_account_id = m.account_id))`;

/** It is the person's own, or the person has that role; also when it is retired. */
const belongsToPerson = (account: string): string =>
  `a.owner_id in (${ownersOf(account)}) and (a.owner_id = ${account} or ${managedByRole(account)})`;

const tiedToNobodyElse = (account: string): string =>
  `(a.member_account_id is null or a.member_account_id = ${account})`;

/** The person may change, pause and retire it. */
export const managedByPerson = (account: string): string =>
  `a.retired_at is null and ${belongsToPerson(account)}`;

/** The person may speak as it: manages it, and it is not tied to somebody else. */
export const actedAsByPerson = (account: string): string =>
  `${managedByPerson(account)} and ${tiedToNobodyElse(account)}`;

/** The person may read what it said and was told: may speak as it, or could if it were not retired. */
export const readByPerson = (account: string): string =>
  `${belongsToPerson(account)} and ${tiedToNobodyElse(account)}`;

/** Whom the agent `me` stands for: the person behind it, if there is one; else its organization, which is a member of none. */
const principalId = 'coalesce(me.member_account_id, me.owner_id)';

/**
 * Whoever acts as the agent `me` acts as `a` too, and `a` is another one. A person's agent stands for that person; a member agent
 * within its organization only. As a shared agent only admins act, who act as every agent of theirs that is tied to nobody.
 */
export const actedAsBySamePeople = `a.id <> me.id and a.retired_at is null and a.owner_id in (${ownersOf(principalId)})
   and (me.scope = 'personal' or a.owner_id = me.owner_id)
   and (a.owner_id = ${principalId} or ${managedByRole(principalId)})
   and (a.member_account_id is null or a.member_account_id = ${principalId})`;
