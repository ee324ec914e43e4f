import { DomainError } from '../../domain/errors.ts';
import type { Person } from '../../domain/auth/actor.ts';
import type { Operation } from '../../operations/define.ts';
import {
  createActor,
  type AgentOfPerson,
  requireAgentOfPerson,
  listAgentsOfPerson,
} from '../../services/people/agents.ts';
import { toResourceUrls } from '../../services/auth/tokens.ts';
import type { PageParts } from './parts.ts';

type Parts = Pick<PageParts, 'unitOfWork' | 'execute' | 'settings'>;

/** One of a person's agents, and the one door to what agents do: operations of the catalogue. */
export interface ActingAgent {
  agent: AgentOfPerson;
  /**
   * @param once names this very call, if it could come twice: what comes again gets the first answer.
   * @throws {DomainError} as the operation does; RATE_LIMITED for one that has a budget of its own
   */
  call<Output extends object>(
    operation: Operation<unknown, Output>,
    input?: object,
    once?: string,
  ): Promise<Output>;
}

/**
 * The person as one of the agents that the person acts as.
 * @throws {DomainError} AGENT_NOT_FOUND, in the same words for somebody else's
 */
export async function actAsAgent(parts: Parts, person: Person, agent_id: string): Promise<ActingAgent> {
  const agent = await parts.unitOfWork.readAsSystem((all) =>
    requireAgentOfPerson(all, person.account_id, agent_id, 'acts_as'),
  );
  return { agent, call: createCaller(parts, person, agent) };
}

/**
 * The person as who changes an agent that the person manages. One that is tied to somebody else is changed through an agent of
 * the person's own.
 * @throws {DomainError} AGENT_NOT_FOUND, in the same words for somebody else's
 */
export async function manageAgent(parts: Parts, person: Person, agent_id: string): Promise<ActingAgent> {
  const agent = await parts.unitOfWork.readAsSystem((all) =>
    requireAgentOfPerson(all, person.account_id, agent_id, 'manages'),
  );
  const through = agent.acts_as ? agent : await findManagingAgent(parts, person, agent);
  return { agent, call: createCaller(parts, person, through) };
}

/** What a personal agent manages is what its person manages; a shared agent manages all of its organization's. */
async function findManagingAgent(
  { unitOfWork }: Parts,
  person: Person,
  agent: AgentOfPerson,
): Promise<AgentOfPerson> {
  const own = await unitOfWork.readAsSystem((all) =>
    listAgentsOfPerson(all, person.account_id, { right: 'acts_as' }),
  );
  const able = own.find(
    ({ scope, owner_id }) => scope === 'personal' || (scope === 'shared' && owner_id === agent.owner_id),
  );
  return able ?? agent;
}

function createCaller(
  { execute, settings }: Parts,
  person: Person,
  through: AgentOfPerson,
): ActingAgent['call'] {
  const actor = createActor(person, through, toResourceUrls(settings.public_url).api);
  return async function call<Output extends object>(
    operation: Operation<unknown, Output>,
    input: object = {},
    once?: string,
  ): Promise<Output> {
    // The person's own budget has paid: an app that uses up the agent's must not keep its person from pausing it.
    const already_consumed = operation.limit === undefined;
    const { output } = await execute({ operation, actor, input, already_consumed, idempotency_key: once });
    // By the schema of this very operation.
    return output as Output;
  };
}

/**
 * For what a paused agent cannot do: says so to a person, where the operation would say it to the agent.
 * @throws {DomainError} AGENT_PAUSED
 */
export function requireNotPaused({ paused }: AgentOfPerson): void {
  if (paused) throw new DomainError('AGENT_PAUSED', 'This agent is paused. Resume it under Settings first.');
}
