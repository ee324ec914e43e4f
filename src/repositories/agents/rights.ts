/**
 * The rights of a person, as conditions on `agents a`. `account` is the SQL of the person's account id. Roles are read on each use, so
 * rights end with the membership.
 */

/** The owners whose agents the person may manage: the condition uses the index on the owner. */
export const ownersOf = (account: string): string =>
  `select ${account} union all select o.organization_id from organization_members o where o.account_id = ${account}`;

/** The person is an admin of the organization that owns the agent, or the member linked with the agent. */
export const managedByRole = (account: string): string =>
  `exists (select from organization_members m
           where m.organization_id = a.owner_id and m.account_id = ${account}
             and (m.role = 'admin' or a.member_account_id = m.account_id))`;

/** The person owns the agent or has that role. Includes retired agents. */
export const administeredByPerson = (account: string): string =>
  `a.owner_id in (${ownersOf(account)}) and (a.owner_id = ${account} or ${managedByRole(account)})`;

/** Neither linked with another member, nor an agent of another system: that one speaks for itself. */
const isOfPerson = (account: string): string =>
  `a.scope <> 'remote' and (a.member_account_id is null or a.member_account_id = ${account})`;

/** The person may change, pause and retire the agent. An agent of another system speaks for itself. */
export const managedByPerson = (account: string): string =>
  `a.retired_at is null and a.scope <> 'remote' and ${administeredByPerson(account)}`;

/** The person may act as the agent: manages it, and it is not linked with another member. */
export const actedAsByPerson = (account: string): string =>
  `${managedByPerson(account)} and ${isOfPerson(account)}`;

/** The person may read the agent's messages: may act as it, or could before it was retired. */
export const readByPerson = (account: string): string =>
  `${administeredByPerson(account)} and ${isOfPerson(account)}`;

/** The person that the agent `me` acts for, or else its organization, which has no memberships. */
const principalId = 'coalesce(me.member_account_id, me.owner_id)';

/**
 * Everyone who may act as the agent `me` may also act as `a`, which may be `me` itself. A personal agent acts for its person; a member
 * agent does so within its organization only. Only admins act as a shared agent, and they may act as every agent that is not linked with
 * a member.
 */
export const actedAsByPeopleOfMe = `a.retired_at is null and a.owner_id in (${ownersOf(principalId)})
   and (me.scope = 'personal' or a.owner_id = me.owner_id)
   and (a.owner_id = ${principalId} or ${managedByRole(principalId)})
   and ${isOfPerson(principalId)}`;

/** As `actedAsByPeopleOfMe`, and `a` is another agent. */
export const actedAsBySamePeople = `a.id <> me.id and ${actedAsByPeopleOfMe}`;
