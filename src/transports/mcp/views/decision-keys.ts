import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { SealedBox } from '../../../shared/encryption.ts';

type Decider = Pick<Actor, 'agent_id' | 'grant_id'>;

/** Keys with which a view decides one approval of its agent. */
export interface DecisionKeys {
  /** Undefined for the token of a credential, which belongs to a program: no person is in front of it. */
  create(actor: Decider, approval_id: string): string | undefined;
  /** Whether the key was created for this grant and approval. */
  isValid(key: string, actor: Decider, approval_id: string): boolean;
}

/** Keys are sealed, so no process keeps them. An approval can be decided once, so a key has no effect afterwards. */
export function createDecisionKeys(sealedBox: SealedBox): DecisionKeys {
  const about = (grant_id: string, agent_id: string, approval_id: string) =>
    JSON.stringify(['mcp decision key', grant_id, agent_id, approval_id]);
  return {
    create: ({ agent_id, grant_id }, approval_id) =>
      grant_id && sealedBox.seal('', about(grant_id, agent_id, approval_id)).toString('base64url'),
    isValid(key, { agent_id, grant_id }, approval_id) {
      if (grant_id === undefined) return false;
      try {
        sealedBox.open(Buffer.from(key, 'base64url'), about(grant_id, agent_id, approval_id));
        return true;
      } catch {
        return false;
      }
    },
  };
}
