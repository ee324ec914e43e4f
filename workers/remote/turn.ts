import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import type { Core } from '../../src/compose.ts';
import type { ListedRemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import type { RemoteThreadRow } from '../../src/repositories/remote/threads.ts';
import type { createServiceActor } from '../../src/services/agents/service-actor.ts';
import type { openIntake } from '../../src/start/execute.ts';
import type { RemoteClient } from './client.ts';

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
  /** Stores the state of the thread and extends the lease. Returns false if another process has it now. */
  store(next_at?: number): Promise<boolean>;
}
