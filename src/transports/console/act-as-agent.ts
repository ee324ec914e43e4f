import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Operation } from '../../operations/define.ts';
import {
  createActor,
  type AgentOfPerson,
  type AgentRight,
  changeAgentOfPerson,
  requireAgentOfPerson,
} from '../../services/people/agents.ts';
import type { WriteService } from '../../services/people/service-calls.ts';
import { toResourceUrls } from '../../services/auth/tokens.ts';
import type { PageParts } from './parts.ts';

type Parts = Pick<PageParts, 'services' | 'execute' | 'settings'>;

/** One of a person's agents, with a function that runs operations as that agent: if the person may not act as it, only those that manage it. */
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
  /** Calls a service that changes the agent. It checks in the same transaction that the person still has the right. */
  change<Input extends unknown[], T>(service: WriteService<Input, T>, ...input: Input): Promise<T>;
}

/**
 * Lets a person act as one of their agents, or change one that they manage.
 * @throws {DomainError} AGENT_NOT_FOUND, also for agents of others
 */
export async function actAsAgent(
  parts: Parts,
  person: Person,
  agent_id: string,
  right: AgentRight = 'acts_as',
): Promise<ActingAgent> {
  const { services } = parts;
  const agent = await services.read(requireAgentOfPerson, person.account_id, agent_id, right);
  const owned = { account_id: person.account_id, agent_id: agent.id, right };
  return {
    agent,
    call: createCaller(parts, person, agent),
    change: (service, ...input) =>
      services.write(person, (work) => changeAgentOfPerson(work, owned, service, ...input)),
  };
}

function createCaller(
  { execute, settings }: Parts,
  person: Person,
  agent: AgentOfPerson,
): ActingAgent['call'] {
  const actor = createActor(person, agent, toResourceUrls(settings.public_url).api);
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
