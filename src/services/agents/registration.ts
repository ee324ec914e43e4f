import { DomainError, wrongField } from '../../domain/errors.ts';
import { isName, nameRule } from '../../domain/agents/handles.ts';
import { newId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { organizationNotFound } from '../access.ts';

type NewAgent = Parameters<SystemWork['agents']['insert']>[0];
type Principal = NonNullable<Awaited<ReturnType<SystemWork['managedAgents']['findPrincipal']>>>;
type Ownership = Pick<NewAgent, 'owner_id' | 'member_account_id' | 'scope'> & { owner_name: string };

export interface RegisterAgent extends Pick<
  NewAgent,
  'display_name' | 'description' | 'visibility' | 'inbound_policy' | 'card_body' | 'skills'
> {
  /** The part of the handle behind the dot, in any case. */
  name: string;
  scope?: NewAgent['scope'] | undefined;
  /** The slug of the organization that is to own it; without one it is a personal agent. */
  organization?: string | undefined;
}

/**
 * Registers an agent for whoever has this standing: a personal agent of the person, or an agent of an organization that the
 * standing reaches (contract, section 3). The handle is reserved for good. A step of more than one use case.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN (also when the owner has as many agents as the service lets it have), NOT_FOUND
 * (organization), DUPLICATE_HANDLE
 */
export async function registerAgentFor(work: SystemWork, standing: Principal, input: RegisterAgent) {
  const { scope: asked, organization, name: given, ...profile } = input;
  const name = given.toLowerCase();
  if (!isName(name)) throw wrongField('name', nameRule);
  const { owner_name, ...place } =
    organization === undefined
      ? resolvePersonalOwner(standing, asked)
      : await resolveOrganizationOwner(work, standing, organization.trim().toLowerCase(), asked);
  await requireAgentQuota(work, place.owner_id, owner_name);
  const agent = await work.agents.insert({
    ...profile,
    ...place,
    id: newId('agent'),
    canonical_handle: `${owner_name}.${name}`,
    created_at: work.now,
  });
  if (!agent) throw new Error('the agent was not inserted');
  const { visibility, inbound_policy } = agent;
  work.audit({ act: 'agent.registered', agent_id: agent.id, detail: { visibility, inbound_policy } });
  return agent;
}

/** The owner is held, so that two at once do not make one too many. */
async function requireAgentQuota(
  { agents, owners, maxAgents }: SystemWork,
  owner_id: string,
  owner_name: string,
): Promise<void> {
  if (maxAgents === null) return;
  await owners.lock(owner_id);
  if ((await agents.count(owner_id)) < maxAgents) return;
  throw new DomainError('FORBIDDEN', `${owner_name} may have at most ${maxAgents} agents; delete one first.`);
}

function resolvePersonalOwner(
  { person_id, person_name }: Principal,
  asked: NewAgent['scope'] | undefined,
): Ownership {
  if (asked !== undefined && asked !== 'personal') {
    throw wrongField('organization', `is needed for an agent of the scope ${asked}`);
  }
  if (person_id === null || person_name === null) {
    throw new DomainError(
      'FORBIDDEN',
      'No person stands behind this agent: it registers agents of its own organization only; name it in organization.',
    );
  }
  return { owner_id: person_id, owner_name: person_name, member_account_id: null, scope: 'personal' };
}

async function resolveOrganizationOwner(
  work: SystemWork,
  standing: Principal,
  slug: string,
  asked: NewAgent['scope'] | undefined,
): Promise<Ownership> {
  if (asked === 'personal')
    throw wrongField('scope', 'must be member or shared for an agent of an organization');
  const { person_id } = standing;
  if (person_id === null) {
    if (slug !== standing.owner_name) throw organizationNotFound();
    if (asked === 'member')
      throw new DomainError('FORBIDDEN', 'No person stands behind this agent to tie another one to.');
    return { owner_id: standing.owner_id, owner_name: slug, member_account_id: null, scope: 'shared' };
  }
  const membership = await work.owners.findMembership(slug, person_id);
  if (!membership) throw organizationNotFound();
  const scope = asked ?? 'member';
  if (scope === 'shared' && membership.role !== 'admin') {
    throw new DomainError('FORBIDDEN', `Only admins of ${slug} register shared agents of it.`);
  }
  const member_account_id = scope === 'member' ? person_id : null;
  return { owner_id: membership.id, owner_name: membership.name, member_account_id, scope };
}
