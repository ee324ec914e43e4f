import { toWithdrawalRequest } from '../../src/presenters/a2a/remote.ts';
import type { PendingWithdrawal } from '../../src/repositories/remote/withdrawals.ts';
import { nextAttemptAt, type Step } from '../posting/handler.ts';
import { storesOnce } from './send.ts';
import { earlyUntil } from './settle.ts';
import { storeOutcome } from './store-outcome.ts';
import { isEnded, suspend, type Turn } from './turn.ts';

/** Tells another installation that a message was withdrawn. Other servers would take it for a message, so they are not told. */
export async function tellWithdrawal(
  turn: Turn,
  { message_id, is_update }: PendingWithdrawal,
): Promise<Step> {
  const { core, agent, client, pacing, thread, store } = turn;
  if (storesOnce(turn)) {
    const { conversation, context_id } = thread;
    const after = is_update ? message_id : null;
    const { failure } = await client.send(
      toWithdrawalRequest({ message_id, conversation, context_id, after }),
    );
    if (failure && isEnded(turn, failure)) return suspend(turn, failure);
    await storeOutcome(core, agent.agent_id, failure?.error.message ?? null);
    const early = failure === null ? undefined : earlyUntil(turn, failure);
    if (early !== undefined) return { until: early };
    if (failure?.kind === 'retry' || failure?.kind === 'unclear') {
      const attempts = await core.db.remoteWithdrawals.countAttempt(message_id);
      const until = nextAttemptAt(pacing, attempts, failure.retryAfterMs);
      if (until !== undefined) return { until };
    }
  }
  await core.db.remoteWithdrawals.remove(message_id);
  return (await store()) ? 'more' : 'ended';
}
