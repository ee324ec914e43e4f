import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { suspendRemote } from '../../src/services/remote/state.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import type { Core } from '../../src/compose.ts';
import type { ListedRemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import type { RemoteThreadRow } from '../../src/repositories/remote/threads.ts';
import type { createServiceActor } from '../../src/services/agents/service-actor.ts';
import type { openIntake } from '../../src/start/execute.ts';
import type { Step } from '../posting/handler.ts';
import type { CallFailure, RemoteClient } from './client.ts';
import type { ThreadBatches } from './batches.ts';
import { storeOutcome } from './store-outcome.ts';

/** What one turn of a thread needs. */
export interface Turn {
  core: Core;
  pacing: WebhookPacing;
  agent: ListedRemoteAgentRow;
  thread: RemoteThreadRow;
  client: RemoteClient;
  /** Whether the remote side sends callbacks. */
  hasCallback: boolean;
  intake: ReturnType<typeof openIntake>;
  actor: ReturnType<typeof createServiceActor>;
  batches: ThreadBatches;
  /**
   * Stores the state of the thread and extends the lease, or ends it with the time (ms) when the thread is due again; at once if
   * it was recalled meanwhile. Returns false if the lease had ended.
   */
  store(until?: number): Promise<boolean>;
}

/** A thread whose agent no person has confirmed is looked at again after so long. A confirmation makes it due. */
export const waitingMs = 24 * 60 * 60 * 1000;

/** Whether the other installation has ended the token of an invitation. */
export const isEnded = ({ agent }: Turn, { isUnauthorized }: Pick<CallFailure, 'isUnauthorized'>): boolean =>
  isUnauthorized && agent.credential_kind === 'invitation';

/** Sends nothing more until a person has confirmed the agent again. What waits stays. */
export async function suspend({ core, agent }: Turn, { error }: Pick<CallFailure, 'error'>): Promise<Step> {
  await storeOutcome(core, agent.agent_id, error.message);
  await core.unitOfWork.write(system, (work) => suspendRemote(work, agent.agent_id));
  return { until: Date.now() + waitingMs };
}
