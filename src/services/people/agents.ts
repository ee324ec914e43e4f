import type { Actor, Person } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { scopes } from '../../domain/auth/scopes.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound } from '../access.ts';
import { type RegisterAgent, registerAgentFor } from '../agents/registration.ts';
import { tokenLifeSeconds } from '../auth/tokens.ts';

type PersonAgents = Pick<SystemWork, 'personAgents'>;

/** An agent that a person manages; `acts_as` says whether the person may speak as it too. */
export type AgentOfPerson = NonNullable<Awaited<ReturnType<PersonAgents['personAgents']['find']>>>;

/**
 * What a person may do with an agent: *manage* it (edit, pause, retire), which own agents, those of organizations where the person
 * is an admin, and those tied to the person are open to; or *act as* it, which leaves out what is tied to somebody else.
 */
export type AgentRight = 'manages' | 'acts_as';

/** The client in whose name the console acts as an agent. It has no secret: nobody signs in as it. */
const consoleClientId = 'console';

/**
 * The agents that a person manages, or only those that the person acts as: own ones first, then those of organizations, by handle;
 * at most `limit`, behind the handle `after`.
 */
export function listAgentsOfPerson(
  { personAgents }: PersonAgents,
  account_id: string,
  { right = 'manages', after = '', limit = 500 }: { right?: AgentRight; after?: string; limit?: number } = {},
): Promise<AgentOfPerson[]> {
  return personAgents.list(account_id, { right, after, limit });
}

/**
 * One agent that the person has this right over. Somebody else's is refused in the words for one that is absent.
 * @throws {DomainError} AGENT_NOT_FOUND
 */
export async function requireAgentOfPerson(
  { personAgents }: PersonAgents,
  account_id: string,
  agent_id: string,
  right: AgentRight,
): Promise<AgentOfPerson> {
  const agent = isId('agent', agent_id) ? await personAgents.find(account_id, agent_id) : undefined;
  if (!agent || (right === 'acts_as' && !agent.acts_as)) throw agentNotFound();
  return agent;
}

/**
 * Registers an agent for a person: an own one, or one of an organization as the person's role there allows.
 * @param input as the operation `register_agent` takes it, held to its schema.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND (organization), DUPLICATE_HANDLE, UNAUTHORIZED (no such account)
 */
export async function registerForPerson(work: SystemWork, account_id: string, input: RegisterAgent) {
  const account = await work.accounts.find(account_id);
  if (!account) throw new DomainError('UNAUTHORIZED', 'This account is no longer there.');
  const { id, username } = account;
  const owner = { owner_id: id, owner_name: username };
  return registerAgentFor(work, { ...owner, scope: 'personal', person_id: id, person_name: username }, input);
}

/**
 * The person as an agent that the person has been found to act as, for one call of an operation: all scopes, and good for as long
 * as a token would be.
 * @param resource the address of the door that the console stands for.
 */
export function createActor(
  person: Person,
  agent: Pick<AgentOfPerson, 'id' | 'canonical_handle' | 'owner_id'>,
  resource: string,
): Actor {
  return {
    agent_id: agent.id,
    handle: agent.canonical_handle,
    owner_id: agent.owner_id,
    scopes: new Set(scopes),
    client_id: consoleClientId,
    account_id: person.account_id,
    resource,
    expires_at: Date.now() + tokenLifeSeconds * 1_000,
    token_id: person.session_id,
  };
}
