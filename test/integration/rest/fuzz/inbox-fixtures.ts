import { newId } from '../../../../packages/core/src/domain/ids.ts';
import { toLeaseId } from '../../../../src/services/inbox/lease-ids.ts';
import type { TestService } from '../../../support/service.ts';

/** Leases and dead items that requests can name. */
export interface InboxFixtures {
  /** Turns the inbox of an agent on, and adds a lease and a dead item: other requests end them, or turn it off. */
  add(agentId: string): Promise<void>;
  /** The last lease of an agent. */
  lease(agentId: string): string | undefined;
  /** The last dead item of an agent. */
  deadItem(agentId: string): string | undefined;
}

const turnOn = `insert into inboxes (agent_id, types, lease_seconds, max_attempts, ordered_by_thread, position, created_at, updated_at)
  values ($1, '{message.created}', 60, 5, true, 0, $2, $2) on conflict do nothing`;

const addItems = `insert into inbox_items (agent_id, number, event_id, event_type, state, attempts, ready_at, fencing_token, expires_at, updated_at)
  values ($1, -2 * $3::int, $4, 'thread.created', 'leased', 1, $2::bigint, $3, $2::bigint + 60000, $2::bigint),
    ($1, -2 * $3::int - 1, $5, 'thread.created', 'dead', 5, $2::bigint, null, null, $2::bigint)`;

/** Creates leases without claims, because the events that they need come from other requests. */
export function createInboxFixtures({ core }: TestService): InboxFixtures {
  const leases = new Map<string, string>();
  const deadItems = new Map<string, string>();
  let count = 0;
  return {
    async add(agentId) {
      const number = (count += 1);
      const [leased, dead] = [newId('event'), newId('event')];
      await core.database.query({ text: turnOn }, [agentId, Date.now()]);
      await core.database.query({ text: addItems }, [agentId, Date.now(), number, leased, dead]);
      leases.set(agentId, toLeaseId(agentId, number));
      deadItems.set(agentId, dead);
    },
    lease: (agentId) => leases.get(agentId),
    deadItem: (agentId) => deadItems.get(agentId),
  };
}
