import type { PrincipalRow } from '../../repositories/agents/managed-agents.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isName, nameRule } from '../../../packages/core/src/domain/agents/handles.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { organizationNotFound } from '../access.ts';
import { retiredActor } from '../actor-checks.ts';
import { emitSameOwnerContact } from '../contacts/contact-events.ts';

type NewAgent = Parameters<SystemWork['db']['agents']['insert']>[0];
type Ownership = Pick<NewAgent, 'owner_id' | 'member_account_id' | 'scope'> & { owner_name: string };

export interface RegisterAgent extends Pick<
  NewAgent,
  'display_name' | 'description' | 'visibility' | 'inbound_policy' | 'card_body' | 'skills'
> {
  /** The part of the handle after the dot, in any case. */
  name: string;
  scope?: NewAgent['scope'] | undefined;
  /** The slug of the owning organization; if absent, the agent is personal. */
  organization?: string | undefined;
}

/**
 * Registers an agent for a principal: a personal agent of its person, or an agent of an organization that it belongs to. The handle
 * is reserved permanently.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN (also when the owner has reached its maximum of agents), NOT_FOUND
 * (organization), DUPLICATE_HANDLE
 */
export async function registerAgentFor(work: SystemWork, principal: PrincipalRow, input: RegisterAgent) {
  const { scope, organization, name: nameInput, ...profile } = input;
  const name = nameInput.toLowerCase();
  if (!isName(name)) throw wrongField('name', nameRule);
  const { owner_name, ...ownership } =
    organization === undefined
      ? resolvePersonalOwner(principal, scope)
      : await resolveOrganizationOwner(work, principal, organization.trim().toLowerCase(), scope);
  await requireAgentQuota(work, ownership.owner_id, owner_name);
  return insertAgent(work, { ...profile, ...ownership, canonical_handle: `${owner_name}.${name}` });
}

/** Inserts a new agent: it is a contact of the other agents of its owner. @throws {DomainError} DUPLICATE_HANDLE */
export async function insertAgent(work: SystemWork, fields: Omit<NewAgent, 'id' | 'created_at'>) {
  const agent = await work.db.agents.insert({ ...fields, id: newId('agent'), created_at: work.now });
  if (!agent) throw new Error('the agent was not inserted');
  const { visibility, inbound_policy } = agent;
  work.changes.audit({ act: 'agent.registered', agent_id: agent.id, detail: { visibility, inbound_policy } });
  await emitSameOwnerContact(work, agent);
  return agent;
}

/** Locks the owner, so that concurrent registrations cannot exceed the maximum. */
async function requireAgentQuota(
  { db: { agents, owners }, settings: { maxAgents } }: SystemWork,
  owner_id: string,
  owner_name: string,
): Promise<void> {
  if (maxAgents === null) return;
  await owners.lock(owner_id);
  if ((await agents.count(owner_id)) < maxAgents) return;
  throw new DomainError('FORBIDDEN', `${owner_name} can have at most ${maxAgents} agents; delete one first.`);
}

function resolvePersonalOwner(
  { person_id, person_name }: PrincipalRow,
  scope: NewAgent['scope'] | undefined,
): Ownership {
  const isRemote = scope === 'remote';
  if (scope !== undefined && scope !== 'personal' && !isRemote) {
    throw wrongField('organization', `is required for an agent with scope ${scope}`);
  }
  if (person_id === null || person_name === null) {
    throw new DomainError(
      'FORBIDDEN',
      'This agent does not belong to a person and can only register agents of its organization; set organization.',
    );
  }
  const owner = { owner_id: person_id, owner_name: person_name, member_account_id: null };
  return { ...owner, scope: isRemote ? scope : 'personal' };
}

async function resolveOrganizationOwner(
  work: SystemWork,
  principal: PrincipalRow,
  slug: string,
  requestedScope: NewAgent['scope'] | undefined,
): Promise<Ownership> {
  if (requestedScope === 'personal')
    throw wrongField('scope', 'must be member or shared for an agent of an organization');
  const { person_id } = principal;
  if (person_id === null) {
    if (slug !== principal.owner_name) throw organizationNotFound();
    if (requestedScope === 'member') {
      throw new DomainError(
        'FORBIDDEN',
        'This agent does not belong to a person and cannot register agents with scope member; use shared.',
      );
    }
    const scope = requestedScope ?? 'shared';
    return { owner_id: principal.owner_id, owner_name: slug, member_account_id: null, scope };
  }
  const membership = await work.db.memberships.find(person_id, slug);
  if (!membership) throw organizationNotFound();
  const scope = requestedScope ?? 'member';
  if (scope !== 'member' && membership.role !== 'admin') {
    const agents = scope === 'remote' ? 'add agents of other systems for it' : 'register its shared agents';
    throw new DomainError('FORBIDDEN', `Only admins of ${slug} can ${agents}.`);
  }
  const member_account_id = scope === 'member' ? person_id : null;
  return { owner_id: membership.id, owner_name: slug, member_account_id, scope };
}

/**
 * Registers an agent for the actor's principal; see registerAgentFor.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND (organization), DUPLICATE_HANDLE, UNAUTHORIZED
 */
export async function registerAgent(work: Work, input: RegisterAgent) {
  const principal = await work.db.managedAgents.findPrincipal(work.actor.agent_id);
  if (!principal) throw retiredActor();
  return registerAgentFor(work, principal, input);
}
