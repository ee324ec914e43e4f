import type { AgentStateRow } from '../../repositories/people/agent-states.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { type AgentOfPerson, listAgentsOfPerson } from './agents.ts';

/** An agent of a person with what it does. Agents as which the person cannot act have no state. */
export interface AgentWithState extends AgentOfPerson {
  state: AgentStateRow | undefined;
}

/** The agents whose handle or display name has this text, all without one. */
export function searchAgents(agents: readonly AgentOfPerson[], search: string): AgentOfPerson[] {
  const text = search.trim().replace(/^@/, '').toLowerCase();
  return agents.filter(({ canonical_handle, display_name }) =>
    `${canonical_handle} ${display_name}`.toLowerCase().includes(text),
  );
}

/**
 * Returns the agents that a person manages with their states: those that need attention first, or those with the latest message.
 * @param search part of a handle or of a display name
 */
export async function listAgentStates(
  work: ReadWork,
  account_id: string,
  { search = '', order }: { search?: string; order: 'attention' | 'latest' },
): Promise<AgentWithState[]> {
  const found = searchAgents(await listAgentsOfPerson(work, account_id), search);
  const ids = found.filter(({ acts_as }) => acts_as).map(({ id }) => id);
  const states = new Map(
    (await work.db.agentStates.list(ids, account_id, Date.now())).map((state) => [state.agent_id, state]),
  );
  const withStates = found.map((agent) => ({ ...agent, state: states.get(agent.id) }));
  const rank = order === 'attention' ? attentionOf : () => 0;
  const activity = ({ state }: AgentWithState) => state?.last_message_at ?? 0;
  return withStates.toSorted(
    (one, other) => rank(other) - rank(one) || activity(other) - activity(one) || compareHandles(one, other),
  );
}

/** How much an agent needs its person: failures, then overdue tasks, then open tasks and unread messages. */
function attentionOf({ state, paused }: AgentWithState): number {
  if (!state) return 0;
  if (state.dead > 0 || state.failing_webhooks > 0) return 4;
  if (state.overdue_tasks > 0) return 3;
  if (state.open_tasks > 0) return 2;
  return state.unread > 0 && !paused ? 1 : 0;
}

const compareHandles = (one: AgentWithState, other: AgentWithState) =>
  one.canonical_handle < other.canonical_handle ? -1 : 1;
