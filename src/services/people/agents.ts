import type { PrincipalRow } from '../../repositories/agents/managed-agents.ts';
import type { PersonAgentRow } from '../../repositories/people/agents.ts';
import type { Actor, Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import { createServiceActor } from '../agents/service-actor.ts';
import { steadyNow } from '../../shared/clock.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound } from '../access.ts';
import { type RegisterAgent, registerAgentFor } from '../agents/registration.ts';
import { tokenLifeSeconds } from '../auth/tokens.ts';

/** An agent that a person manages; `acts_as` is whether the person can also act as it. */
export type AgentOfPerson = PersonAgentRow;

/**
 * The rights of a person over an agent. `manages` (edit, pause, retire): own agents, agents of organizations of which the person is an
 * admin, and agents that belong to the person as a member. `acts_as`: the same without agents that belong to another member.
 */
export type AgentRight = 'manages' | 'acts_as';

/** The client as which the console acts as an agent. It has no secret, so no program can sign in as it. */
export const consoleClientId = 'console';

const managingScopes: Actor['scopes'] = new Set<Scope>(['agents:read', 'agents:write']);

/**
 * Returns the agents over which a person has a right: own agents first, then those of organizations, by handle; at most `limit` after
 * the handle `after`.
 */
export function listAgentsOfPerson(
  { db: { personAgents } }: ReadWork,
  account_id: string,
  { right = 'manages', after = '', limit = 500 }: { right?: AgentRight; after?: string; limit?: number } = {},
): Promise<AgentOfPerson[]> {
  return personAgents.list(account_id, { right, after, limit });
}

/**
 * Returns an agent over which the person has this right.
 * @throws {DomainError} AGENT_NOT_FOUND, also for agents of others
 */
export async function requireAgentOfPerson(
  { db: { personAgents } }: ReadWork,
  account_id: string,
  agent_id: string,
  right: AgentRight,
): Promise<AgentOfPerson> {
  const agent = isId('agent', agent_id) ? await personAgents.find(account_id, agent_id) : undefined;
  if (!agent || (right === 'acts_as' && !agent.acts_as)) throw agentNotFound();
  return agent;
}

/**
 * Changes an agent after a check, in the same transaction, that the person has the right.
 * @throws {DomainError} AGENT_NOT_FOUND
 */
export async function changeAgentOfPerson<Input extends unknown[], T>(
  work: SystemWork,
  { account_id, agent_id, right }: { account_id: string; agent_id: string; right: AgentRight },
  change: (work: SystemWork, ...input: Input) => Promise<T>,
  ...input: Input
): Promise<T> {
  await requireAgentOfPerson(work, account_id, agent_id, right);
  return change(work, ...input);
}

/**
 * Registers an agent for a person: an own agent, or one of an organization if the person's role allows it.
 * @param input valid for the schema of the operation `register_agent`.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND (organization), DUPLICATE_HANDLE, UNAUTHORIZED (no such account)
 */
export async function registerForPerson(work: SystemWork, account_id: string, input: RegisterAgent) {
  return registerAgentFor(work, await requirePrincipal(work, account_id), input);
}

/**
 * Returns the person as a principal that registers agents.
 * @throws {DomainError} UNAUTHORIZED (no such account)
 */
export async function requirePrincipal(work: SystemWork, account_id: string): Promise<PrincipalRow> {
  const account = await work.db.accounts.find(account_id);
  if (!account) throw new DomainError('UNAUTHORIZED', 'This account no longer exists.');
  const { id, username } = account;
  return { owner_id: id, owner_name: username, scope: 'personal', person_id: id, person_name: username };
}

/**
 * Returns an actor for one call of an operation in the console: the person as this agent, with the lifetime of a token. It has all scopes, or
 * those that manage an agent if the person may not act as it. The caller checks the right.
 * @param resource the resource URL of the token that the actor represents.
 */
export function createActor(
  person: Person,
  agent: Pick<AgentOfPerson, 'id' | 'canonical_handle' | 'owner_id' | 'acts_as'>,
  resource: string,
): Actor {
  const actor = createServiceActor(agent, consoleClientId);
  return {
    ...actor,
    scopes: agent.acts_as ? actor.scopes : managingScopes,
    account_id: person.account_id,
    resource,
    expires_at: steadyNow() + tokenLifeSeconds * 1_000,
    token_id: person.session_id,
  };
}
