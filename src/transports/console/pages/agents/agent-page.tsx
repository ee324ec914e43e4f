import { type ActingAgent, actAsAgent, manageAgent } from '../../act-as-agent.ts';
import {
  type ConfirmationDefinition,
  defineConfirmation,
  definePage,
  type PageDefinition,
  type PageVisit,
} from '../../define/page.tsx';
import { type AgentRight, changeAgentOfPerson } from '../../../../services/people/agents.ts';
import type { WriteService } from '../../../../services/people/service-calls.ts';
import type { ConsoleRoute } from '../../route.ts';
import { agentAddress, AgentHeading } from './heading.tsx';

/** A request to a page of an agent. */
export interface AgentVisit extends PageVisit, ActingAgent {
  /** The path of a page of the agent; without a subpage, that of its overview. */
  agentPath(subpage?: string): string;
  /** Calls a service that changes the agent. It checks in the same transaction that the person still has the right. */
  change<Input extends unknown[], T>(service: WriteService<Input, T>, ...input: Input): Promise<T>;
}

/** What the pages of an agent have in common. */
interface OfAgent<Extra> {
  /** The path after that of the agent. */
  path: string;
  /** Default: the person acts as the agent. `manages`: the person can change it. */
  right?: AgentRight;
  /** Reads more that the whole page needs. */
  load?(visit: AgentVisit): Promise<Extra>;
}

type AgentPageDefinition<Extra> = OfAgent<Extra> &
  Omit<PageDefinition<AgentVisit & Extra>, 'load'> & {
    /** The tab of a page without a tab of its own. */
    tab?: string;
  };

/** The routes of a page of an agent. */
export function agentPage(definition: AgentPageDefinition<object>): ConsoleRoute[] {
  return agentPageWith<object>(definition);
}

/** The routes of a page of an agent for which `load` reads more. */
export function agentPageWith<Extra extends object>(definition: AgentPageDefinition<Extra>): ConsoleRoute[] {
  const { path, tab } = definition;
  return definePage({
    heading: ({ agent }) => (
      <AgentHeading agent={agent} {...(tab !== undefined && { current: agentAddress(agent, tab) })} />
    ),
    ...definition,
    path: fullPath(path),
    load: loaderOf(definition),
  });
}

/** The routes of a page that asks before a change of an agent. */
export function agentConfirmation<Extra extends object = object>(
  definition: OfAgent<Extra> & Omit<ConfirmationDefinition<AgentVisit & Extra>, 'load'>,
): ConsoleRoute[] {
  return defineConfirmation({ ...definition, path: fullPath(definition.path), load: loaderOf(definition) });
}

function fullPath(path: string): string {
  return agentAddress({ id: ':id' }, path);
}

function loaderOf<Extra extends object>({ right = 'acts_as', load }: OfAgent<Extra>) {
  return async (visit: PageVisit): Promise<AgentVisit & Extra> => {
    const find = right === 'manages' ? manageAgent : actAsAgent;
    const acting = await find(visit.parts, visit.person, visit.params['id'] ?? '');
    const owned = { account_id: visit.person.account_id, agent_id: acting.agent.id, right };
    const loaded: AgentVisit = {
      ...visit,
      ...acting,
      agentPath: (subpage) => agentAddress(acting.agent, subpage),
      change: (service, ...input) =>
        visit.write((work) => changeAgentOfPerson(work, owned, service, ...input)),
    };
    return { ...loaded, ...((await load?.(loaded)) ?? ({} as Extra)) };
  };
}
