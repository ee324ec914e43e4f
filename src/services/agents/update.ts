import type { Work } from '../../work/unit-of-work.ts';
import { requireManagedAgent } from '../access.ts';
import { retiredActor } from '../actor-checks.ts';

type Agent = NonNullable<Awaited<ReturnType<Work['agents']['find']>>>;
type Profile = Omit<Parameters<Work['agents']['update']>[0], 'id' | 'updated_at'>;

/** What is to change; a field that is absent stays as it is. */
export type AgentChanges = { [Field in keyof Profile]?: Profile[Field] | undefined };

/**
 * Changes an agent that the actor manages, its policies included (contract, section 3).
 * @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN, INVALID_HANDLE
 */
export async function updateAgent(work: Work, ref: string, changes: AgentChanges) {
  return applyChanges(work, await requireManagedAgent(work, ref), changes);
}

/**
 * Changes what an agent says of itself. How it may be reached is for its owner to say.
 * @throws {DomainError} UNAUTHORIZED when it was retired meanwhile
 */
export async function updateOwnProfile(
  work: Work,
  changes: Pick<AgentChanges, 'display_name' | 'description' | 'card_body' | 'skills'>,
) {
  const agent = await work.agents.lock(work.actor.agent_id);
  if (!agent) throw retiredActor();
  return applyChanges(work, agent, changes);
}

/**
 * Tells the agent itself and who did it, and its contacts of a new name, which stands in their lists. What stays as it was causes no
 * event.
 */
async function applyChanges(work: Work, agent: Agent, changes: AgentChanges): Promise<Agent> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const changed = { ...agent, ...(Object.fromEntries(given) as Partial<Profile>) };
  if (!given.some(([field]) => isDifferent(agent, changed, field as keyof Profile))) return agent;
  const updated = { ...changed, updated_at: Math.max(agent.updated_at + 1, work.now) };
  await work.agents.update(updated);
  auditPolicyChanges(work, agent, updated);
  const { owner_id: _owner, retired_at: _retired, is_online: _online, ...data } = updated;
  const recipients = [...new Set([agent.id, work.actor.agent_id])];
  work.emit({ type: 'agent.updated', recipients, data });
  if (updated.display_name !== agent.display_name) await emitToContacts(work, updated);
  return updated;
}

/** What an agent says of itself is its own affair; how it may be reached is one of trust. */
function auditPolicyChanges(work: Work, before: Agent, after: Agent): void {
  const detail: Record<string, string | boolean> = {};
  for (const field of ['inbound_policy', 'visibility', 'paused', 'can_initiate_threads'] as const) {
    if (before[field] !== after[field]) detail[field] = after[field];
  }
  if (Object.keys(detail).length > 0) work.audit({ act: 'agent.changed', agent_id: after.id, detail });
}

/** One event for all of them, however many they are. The agent is held: nobody becomes its contact under the old name meanwhile. */
async function emitToContacts(work: Work, { id, canonical_handle, display_name }: Agent): Promise<void> {
  const recipients = await work.contacts.listIds(id);
  if (recipients.length === 0) return;
  const data = { agent_id: id, canonical_handle, display_name };
  work.emit({ type: 'contact.updated', recipients, data });
}

function isDifferent(before: Profile, after: Profile, field: keyof Profile): boolean {
  if (field !== 'skills') return before[field] !== after[field];
  // PostgreSQL keeps the fields of a JSON object in an order of its own.
  const plain = (profile: Profile) => profile.skills.map(({ name, description }) => [name, description]);
  return JSON.stringify(plain(before)) !== JSON.stringify(plain(after));
}
