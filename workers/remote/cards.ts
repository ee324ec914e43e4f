import type { Core } from '../../src/compose.ts';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { cardAgeMs } from '../../packages/core/src/domain/remote.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import type { RemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import { type CardOutcome, storeCard } from '../../src/services/remote/cards.ts';
import { type Claim, nextAttemptAt, type PostingSource } from '../posting/handler.ts';
import { readCard } from './read-card.ts';
import { redeem } from './redeem.ts';

/** Reads the cards of remote agents: once a day, and after a failure with a back-off. */
export function cardSource(core: Core, pacing: WebhookPacing): PostingSource {
  const { remoteAgents } = core.db;
  return {
    owns: (id) => id.startsWith('agt_'),
    async claim(id) {
      const now = Date.now();
      const record = await remoteAgents.claim(id, now, pacing.leaseMs);
      return record && createTurn(core, pacing, record);
    },
  };
}

function createTurn(core: Core, pacing: WebhookPacing, record: RemoteAgentRow): Claim {
  const { agent_id } = record;
  let outcome: CardOutcome | null = null;
  return {
    agent_id,
    isDue: () => core.db.remoteAgents.isDue(agent_id, Date.now()),
    async next() {
      const access = await redeem(core, record);
      outcome = 'error' in access ? access : await readCard(core, record, access.token);
      record.attempts = 'error' in outcome ? record.attempts + 1 : 0;
      const retryAt = 'error' in outcome ? nextAttemptAt(pacing, record.attempts) : undefined;
      return { until: retryAt ?? Date.now() + cardAgeMs };
    },
    release: (next_at) => core.unitOfWork.write(system, (work) => storeCard(work, record, outcome, next_at)),
  };
}
