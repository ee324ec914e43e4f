import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Operation } from '../../operations/define.ts';
import {
  createActor,
  type AgentOfPerson,
  requireAgentOfPerson,
  listAgentsOfPerson,
} from '../../services/people/agents.ts';
import { toResourceUrls } from '../../services/auth/tokens.ts';
import type { PageParts } from './parts.ts';

type Parts = Pick<PageParts, 'services' | 'execute' | 'settings'>;

/** One of a person's agents, with a function that runs operations as that agent. */
export interface ActingAgent {
  agent: AgentOfPerson;
  /**
   * @param idempotency_key a repeated call with the same key gets the first result.
   * @throws {DomainError} as the operation; RATE_LIMITED for operations with their own limit
   */
  call<Output extends object>(
    operation: Operation<unknown, Output>,
    input?: object,
    idempotency_key?: string,
  ): Promise<Output>;
}

/**
 * Lets a person act as one of their agents.
 * @throws {DomainError} AGENT_NOT_FOUND, also for agents of others
 */
export async function actAsAgent(parts: Parts, person: Person, agent_id: string): Promise<ActingAgent> {
  const agent = await parts.services.read(requireAgentOfPerson, person.account_id, agent_id, 'acts_as');
  return { agent, call: createCaller(parts, person, agent) };
}

/**
 * Lets a person change an agent that they manage. If they may not act as the agent, the change runs as one of their own agents.
 * @throws {DomainError} AGENT_NOT_FOUND, also for agents of others
 */
export async function manageAgent(parts: Parts, person: Person, agent_id: string): Promise<ActingAgent> {
  const agent = await parts.services.read(requireAgentOfPerson, person.account_id, agent_id, 'manages');
  const actingAgent = agent.acts_as ? agent : await findManagingAgent(parts, person, agent);
  return { agent, call: createCaller(parts, person, actingAgent) };
}

/** A personal agent manages what its owner manages; a shared agent manages all agents of its organization. */
async function findManagingAgent(
  { services }: Parts,
  person: Person,
  agent: AgentOfPerson,
): Promise<AgentOfPerson> {
  const own = await services.read(listAgentsOfPerson, person.account_id, { right: 'acts_as' });
  const manager = own.find(
    ({ scope, owner_id }) => scope === 'personal' || (scope === 'shared' && owner_id === agent.owner_id),
  );
  return manager ?? agent;
}

function createCaller(
  { execute, settings }: Parts,
  person: Person,
  actingAgent: AgentOfPerson,
): ActingAgent['call'] {
  const actor = createActor(person, actingAgent, toResourceUrls(settings.public_url).api);
  return async function call<Output extends object>(
    operation: Operation<unknown, Output>,
    input: object = {},
    idempotency_key?: string,
  ): Promise<Output> {
    // Counted against the person's limit: an app that exhausts the agent's limit must not keep the person from pausing it.
    const already_consumed = operation.limit === undefined;
    const { output } = await execute({ operation, actor, input, already_consumed, idempotency_key });
    // Validated by the output schema of the operation.
    return output as Output;
  };
}

/**
 * Checks that an agent is not paused, with a message for its owner.
 * @throws {DomainError} AGENT_PAUSED
 */
export function requireNotPaused({ paused }: AgentOfPerson): void {
  if (paused) throw new DomainError('AGENT_PAUSED', 'This agent is paused. Resume it in its settings first.');
}
