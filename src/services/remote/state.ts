import { remoteTopic } from '../../../packages/core/src/domain/remote.ts';
import type { AgentRow } from '../../repositories/agents/agents.ts';
import type { RemoteAgentRow } from '../../repositories/remote/agents.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

/** Tells those who can write to a locked remote agent whether messages are sent to it. */
export async function announceState(
  work: SystemWork,
  agent: AgentRow,
  { state, failing_since }: Pick<RemoteAgentRow, 'state' | 'failing_since'>,
): Promise<void> {
  const { owner_id: _owner, retired_at: _retired, is_online: _online, ...record } = agent;
  const recipients = [...new Set([agent.id, ...(await work.db.contacts.listIds(agent.id))])];
  const data = { ...record, remote: { state, failing_since } };
  work.changes.emit({ type: 'agent.updated', recipients, data });
}

/** Threads that get a message at once; the sweep finds the others. */
const maxNotified = 100;

/** Sends what waits for the agent. */
export async function sendWaiting(work: SystemWork, agent_id: string): Promise<void> {
  notify(work, await work.db.remoteThreads.setDue(agent_id, work.now));
}

function notify({ changes }: SystemWork, threads: readonly string[]): void {
  for (const body of threads.slice(0, maxNotified)) changes.publish({ topic: remoteTopic, body });
}

/**
 * Stores the outcome of a delivery, and tells agents if failures of a remote agent last, or end after they were told. In the second case,
 * conversations that wait for their next attempts are sent at once.
 * @param problem null: the message was delivered.
 */
export async function noteTurn(work: SystemWork, agent_id: string, problem: string | null): Promise<void> {
  const agent = await work.db.agents.lock(agent_id);
  const record = agent && (await work.db.remoteAgents.lock(agent_id));
  if (!record || !(await work.db.remoteAgents.setOutcome(agent_id, problem, work.now))) return;
  await announceState(work, agent, {
    ...record,
    failing_since: problem === null ? null : record.failing_since,
  });
  if (problem === null && record.state === 'ready')
    notify(work, await work.db.remoteThreads.resume(agent_id, work.now));
}

/** Sends nothing more to an agent until a person has confirmed it again. */
export async function suspendRemote(work: SystemWork, agent_id: string): Promise<void> {
  const agent = await work.db.agents.lock(agent_id);
  const record = agent && (await work.db.remoteAgents.lock(agent_id));
  if (!record || record.state !== 'ready') return;
  await work.db.remoteAgents.suspend(agent_id);
  await announceState(work, agent, { ...record, state: 'waiting' });
}
