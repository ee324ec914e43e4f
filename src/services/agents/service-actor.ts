import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';

/** Returns an agent for which the service itself acts. @param client_id names the part of the service in the audit log. */
export function createServiceActor(
  agent: { id: string; canonical_handle: string; owner_id: string },
  client_id: string,
): Actor {
  return {
    agent_id: agent.id,
    handle: agent.canonical_handle,
    owner_id: agent.owner_id,
    scopes: new Set(scopes),
    client_id,
    resource: '',
    expires_at: Infinity,
    token_id: client_id,
  };
}
