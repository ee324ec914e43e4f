import { isObsolete } from '../../packages/core/src/domain/withdrawals.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import type { Core } from '../../src/compose.ts';
import { createPostingJob } from '../../src/jobs/posting.ts';
import { createServiceActor } from '../../src/services/agents/service-actor.ts';
import type { PostingSource, Step } from '../posting/handler.ts';
import { createThreadBatches } from './batches.ts';
import { createRemoteClient } from './client.ts';
import { createReceiver } from './receive.ts';
import { createSender } from './send.ts';
import { createTokenSources } from './tokens.ts';
import { type Turn, waitingMs } from './turn.ts';
import { storeOutcome } from './store-outcome.ts';
import { tellWithdrawal } from './withdraw.ts';

/**
 * The threads with remote agents. A turn reads the open tasks of the remote side that are due, and sends the next messages one at a time, in
 * the order of the thread. The position moves when a message needs no attempt any more, so delivery can always continue there.
 */
export function remoteThreadSource(core: Core, intake: Turn['intake'], pacing: WebhookPacing): PostingSource {
  const tokensOf = createTokenSources(core);
  const batches = createThreadBatches(core, pacing);

  return {
    owns: (id) => id.startsWith('thd_'),
    async claim(thread_id) {
      const claimed = await batches.claim({ thread_id });
      if (!claimed) return undefined;
      const { thread, agent } = claimed;

      async function store(until?: number): Promise<boolean> {
        const lease = thread.next_at;
        thread.next_at = until ?? Date.now() + pacing.leaseMs;
        const stored = await batches.store({ ...thread, lease, is_over: until !== undefined });
        thread.poll_at = stored?.poll_at ?? null;
        // It was recalled during the turn.
        if (stored && stored.next_at < thread.next_at)
          await core.queues.enqueue([createPostingJob(thread_id, stored.next_at)]);
        return stored !== null;
      }

      async function next(end: number): Promise<Step> {
        const { confirmed } = agent;
        if (agent.state !== 'ready' || !confirmed) return { until: Date.now() + waitingMs };
        let tokens;
        try {
          tokens = tokensOf(agent);
        } catch {
          const problem = 'The credential cannot be read: SECRET_KEY has changed. Set the credential again.';
          await storeOutcome(core, agent.agent_id, problem);
          return { until: Date.now() + waitingMs };
        }
        const client = await createRemoteClient(core, { ...agent, confirmed }, tokens);
        const hasCallback = agent.card?.capabilities.pushNotifications === true;
        const actor = createServiceActor(
          { id: agent.agent_id, canonical_handle: agent.canonical_handle, owner_id: agent.owner_id },
          'remote',
        );
        const turn = { core, pacing, agent, thread, client, hasCallback, intake, actor, batches, store };
        return takeSteps(turn, end);
      }

      return {
        agent_id: agent.agent_id,
        isDue: async () => (await batches.isDue({ thread_id })) !== null,
        next,
        async release(due) {
          await store(due);
          if (thread.poll_at !== null && thread.poll_at > due)
            await core.queues.enqueue([createPostingJob(thread_id, thread.poll_at)]);
        },
      };
    },
  };
}

async function takeSteps(turn: Turn, end: number): Promise<Step> {
  const { agent, batches, thread } = turn;
  const { remoteThreads } = turn.core.db;
  const { send } = createSender(turn);
  const { cancelTask, readTask } = createReceiver(turn);
  let step: Step = 'more';
  const peek = () => batches.peek({ ...thread, is_bound: agent.bound_id !== null });
  while (step === 'more' && Date.now() < end) {
    let next = await peek();
    if (next?.has_due_task) {
      const task = await remoteThreads.findDueTask(thread.thread_id, Date.now());
      if (task) step = await (task.is_to_cancel ? cancelTask : readTask)(task);
      if (step !== 'more') return step;
      // Between two reads, however long one takes, a message has its turn.
      next = await peek();
    }
    if (!next) return 'ended';
    if (next.withdrawal) step = await tellWithdrawal(turn, next.withdrawal);
    else if (next.message && isObsolete(next.message))
      Object.assign(thread, { position: next.message.sequence, attempts: 0, begun_id: null });
    else if (next.message) step = await send(next.message, next);
    else {
      thread.position = Math.max(thread.position, next.seen_sequence);
      if (next.seen_sequence === next.last_sequence && !next.has_due_task) step = 'idle';
    }
  }
  return step;
}
