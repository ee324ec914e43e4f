import type { AgentRow } from '../../repositories/agents/agents.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { requireManagedAgent } from '../access.ts';
import { retiredActor } from '../actor-checks.ts';
import { endLeasesOf } from '../inbox/end-leases.ts';

type Profile = Omit<Parameters<Work['db']['agents']['update']>[0], 'id' | 'updated_at'>;

/** The fields to change; absent fields keep their value. */
export type AgentChanges = { [Field in keyof Profile]?: Profile[Field] | undefined };

/**
 * Changes an agent that the actor manages, including its policies.
 * @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN, INVALID_HANDLE
 */
export async function updateAgent(work: Work, ref: string, changes: AgentChanges) {
  return applyChanges(work, await requireManagedAgent(work, ref), changes, [work.actor.agent_id]);
}

/**
 * Changes the actor's own profile. Its policies can only be changed by those who manage it.
 * @throws {DomainError} UNAUTHORIZED if it was retired after its token was checked
 */
export async function updateOwnProfile(
  work: Work,
  changes: Pick<AgentChanges, 'display_name' | 'description' | 'card_body' | 'skills'>,
) {
  const agent = await work.db.agents.lock(work.actor.agent_id);
  if (!agent) throw retiredActor();
  return applyChanges(work, agent, changes, [work.actor.agent_id]);
}

/**
 * Changes a locked agent. Emits agent.updated to the agent and to `readers`, and contact.updated to its contacts if the display name changed.
 * Without a change there is no event.
 */
export async function applyChanges(
  work: SystemWork,
  agent: AgentRow,
  changes: AgentChanges,
  readers: readonly string[],
): Promise<AgentRow> {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  const changed = { ...agent, ...(Object.fromEntries(entries) as Partial<Profile>) };
  if (!entries.some(([field]) => isDifferent(agent, changed, field as keyof Profile))) return agent;
  const updated = { ...changed, updated_at: Math.max(agent.updated_at + 1, work.now) };
  await work.db.agents.update(updated);
  const isPaused = updated.paused && !agent.paused;
  auditPolicyChanges(work, agent, updated);
  if (isPaused) await endLeasesOf(work, agent.id);
  const {
    owner_id: _owner,
    retired_at: _retired,
    is_online: _online,
    outgoing_policy: _policy,
    ...data
  } = updated;
  const recipients = [...new Set([agent.id, ...readers])];
  work.changes.emit({ type: 'agent.updated', recipients, data });
  if (updated.display_name !== agent.display_name) await emitToContacts(work, updated);
  return updated;
}

/** The audit log records changes of policies only, not of the profile. */
function auditPolicyChanges(work: SystemWork, before: AgentRow, after: AgentRow): void {
  const detail: Record<string, string | boolean> = {};
  for (const field of ['inbound_policy', 'visibility', 'paused', 'can_initiate_threads'] as const) {
    if (before[field] !== after[field]) detail[field] = after[field];
  }
  if (Object.keys(detail).length > 0)
    work.changes.audit({ act: 'agent.changed', agent_id: after.id, detail });
}

/** Emits one event for all contacts. The agent is locked, so that no contact is added with the old name meanwhile. */
async function emitToContacts(
  work: SystemWork,
  { id, canonical_handle, display_name }: AgentRow,
): Promise<void> {
  await work.db.contacts.lockOwner(id);
  const recipients = await work.db.contacts.listIds(id);
  if (recipients.length === 0) return;
  const data = { agent_id: id, canonical_handle, display_name };
  work.changes.emit({ type: 'contact.updated', recipients, data });
}

function isDifferent(before: Profile, after: Profile, field: keyof Profile): boolean {
  if (field !== 'skills') return before[field] !== after[field];
  // PostgreSQL does not preserve the order of fields in a JSON object.
  const plain = (profile: Profile) => profile.skills.map(({ name, description }) => [name, description]);
  return JSON.stringify(plain(before)) !== JSON.stringify(plain(after));
}
