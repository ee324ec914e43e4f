import { DomainError } from '../domain/errors.ts';
import type { Person } from '../domain/person.ts';
import type { Operation } from '../operations/define.ts';
import { actorFor, type AgentOfPerson, agentOfPerson, listManagedBy } from '../services/person-agents.ts';
import { resourceAddresses } from '../services/tokens.ts';
import type { PageParts } from './parts.ts';

type Parts = Pick<PageParts, 'unitOfWork' | 'execute' | 'settings'>;

/** One of a person's agents, and the one door to what agents do: operations of the catalogue. */
export interface Acting {
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
export async function actingAs(parts: Parts, person: Person, agent_id: string): Promise<Acting> {
  const agent = await parts.unitOfWork.consult((all) =>
    agentOfPerson(all, person.account_id, agent_id, 'acts_as'),
  );
  return { agent, call: callerAs(parts, person, agent) };
}

/**
 * The person as who changes an agent that the person manages. One that is tied to somebody else is changed through an agent of
 * the person's own.
 * @throws {DomainError} AGENT_NOT_FOUND, in the same words for somebody else's
 */
export async function managing(parts: Parts, person: Person, agent_id: string): Promise<Acting> {
  const agent = await parts.unitOfWork.consult((all) =>
    agentOfPerson(all, person.account_id, agent_id, 'manages'),
  );
  const through = agent.acts_as ? agent : await deputy(parts, person, agent);
  return { agent, call: callerAs(parts, person, through) };
}

/** What a personal agent manages is what its person manages; a shared agent manages all of its organization's. */
async function deputy({ unitOfWork }: Parts, person: Person, agent: AgentOfPerson): Promise<AgentOfPerson> {
  const own = await unitOfWork.consult((all) => listManagedBy(all, person.account_id, { right: 'acts_as' }));
  const able = own.find(
    ({ scope, owner_id }) => scope === 'personal' || (scope === 'shared' && owner_id === agent.owner_id),
  );
  return able ?? agent;
}

function callerAs({ execute, settings }: Parts, person: Person, through: AgentOfPerson): Acting['call'] {
  const actor = actorFor(person, through, resourceAddresses(settings.public_url).api);
  return async function call<Output extends object>(
    operation: Operation<unknown, Output>,
    input: object = {},
    once?: string,
  ): Promise<Output> {
    // The person's own budget has paid: an app that uses up the agent's must not keep its person from pausing it.
    const paid = operation.limit === undefined;
    const { output } = await execute({ operation, actor, input, paid, idempotency_key: once });
    // By the schema of this very operation.
    return output as Output;
  };
}

/**
 * For what a paused agent cannot do: says so to a person, where the operation would say it to the agent.
 * @throws {DomainError} AGENT_PAUSED
 */
export function requireAwake({ paused }: AgentOfPerson): void {
  if (paused) throw new DomainError('AGENT_PAUSED', 'This agent is paused. Resume it under Settings first.');
}
