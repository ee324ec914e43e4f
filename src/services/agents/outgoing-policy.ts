import type { OutgoingPolicy } from '../../../packages/core/src/domain/agents/agents.ts';
import type { AgentRow } from '../../repositories/agents/agents.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound } from '../access.ts';

/** The outgoing policy of an agent, and the agents that its people trust. */
export async function readOutgoing({ db }: ReadWork, agent_id: string) {
  const [agent, trusted] = await Promise.all([
    db.agents.find(agent_id),
    db.outgoingClearances.listTrusted(agent_id),
  ]);
  if (!agent) throw agentNotFound();
  return { outgoing_policy: agent.outgoing_policy, trusted };
}

/**
 * Sets what of an agent a person reviews before it leaves. Only for the console and for operators: with a token, an agent could free itself or
 * another one. Under a new policy, the next message of each thread is the first one again.
 * @throws {DomainError} AGENT_NOT_FOUND
 */
export async function setOutgoingPolicy(
  work: SystemWork,
  { id }: Pick<AgentRow, 'id'>,
  outgoing_policy: OutgoingPolicy,
): Promise<void> {
  const agent = await work.db.agents.lock(id);
  if (!agent) throw agentNotFound();
  if (agent.outgoing_policy === outgoing_policy) return;
  await work.db.agents.setOutgoingPolicy(id, outgoing_policy);
  await work.db.outgoingClearances.removeOfThreads(id);
  work.changes.audit({ act: 'agent.changed', agent_id: id, detail: { outgoing_policy } });
}

/** Ends the trust of an agent in another one: what goes to that one is reviewed again. */
export async function endTrust(
  work: SystemWork,
  { id }: Pick<AgentRow, 'id'>,
  counterpart_id: string,
): Promise<void> {
  await work.db.outgoingClearances.removeTrust(id, counterpart_id);
  work.changes.audit({ act: 'agent.changed', agent_id: id, detail: { trust_ended: counterpart_id } });
}
