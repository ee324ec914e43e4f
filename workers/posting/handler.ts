import type { Core } from '../../src/compose.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { createPostingJob, type subscriptionPosting } from '../../src/jobs/posting.ts';
import type { JobHandler } from '../consume-queues.ts';
import { createAgentTurns } from './agent-turns.ts';

/** The next step of a turn: continue, stop because nothing is left, stop for good, or wait until a time (ms). */
export type Step = 'more' | 'idle' | 'ended' | { until: number };

/** A receiver that this process has leased. */
export interface Claim {
  /** The agent that the turn counts for. */
  agent_id: string;
  /** Sends the next requests, until a time (ms). */
  next(until: number): Promise<Step>;
  /** Gives up the lease; the receiver is due at this time (ms). */
  release(due: number): Promise<unknown>;
  /** Whether it has something to do now. */
  isDue(): Promise<boolean>;
}

/** A kind of receivers. Each gets its requests in order, one at a time. */
export interface PostingSource {
  owns(id: string): boolean;
  /** Returns undefined while another process has the receiver, or before it is due. */
  claim(id: string): Promise<Claim | undefined>;
}

/** The maximum number of receivers of one agent that a worker process serves at the same time. */
const maxTurnsOfAgent = 4;

/**
 * Returns the handler that sends to one receiver in order, one request at a time. The position of the receiver moves only after it has
 * accepted a request. So delivery continues there after a kill or an outage.
 */
export function postingHandler(
  { queues }: Core,
  contract: typeof subscriptionPosting,
  sources: readonly PostingSource[],
  pacing: Pick<WebhookPacing, 'turnMs'>,
): JobHandler<{ subscription_id: string }> {
  const turns = createAgentTurns(maxTurnsOfAgent);

  /** Returns when the receiver is due again (ms); undefined if nothing is left to do. */
  async function takeTurn(claim: Claim): Promise<number | undefined> {
    const end = Date.now() + pacing.turnMs;
    let step: Step = 'more';
    while (step === 'more' && Date.now() < end) step = await claim.next(end);
    if (step === 'ended') return undefined;
    const due = typeof step === 'object' ? step.until : Date.now();
    await claim.release(due);
    // A job that came after the last read found the receiver claimed.
    return step !== 'idle' || (await claim.isDue()) ? due : undefined;
  }

  /** Gives up the lease until another turn of the agent ends. */
  async function putBack(id: string, claim: Claim): Promise<void> {
    await claim.release(Date.now());
    if (!turns.wait(claim.agent_id, id)) await queues.enqueue([createPostingJob(id, Date.now())]);
  }

  async function handle({ subscription_id: id }: { subscription_id: string }): Promise<void> {
    const claim = await sources.find((source) => source.owns(id))?.claim(id);
    if (!claim) return;
    const { agent_id } = claim;
    if (!turns.begin(agent_id, id)) return putBack(id, claim);
    let due: number | undefined;
    try {
      due = await takeTurn(claim);
    } finally {
      const waiting = turns.end(agent_id);
      // The waiting one comes first, so that each one gets its turn.
      const jobs = waiting === undefined ? [] : [createPostingJob(waiting, Date.now())];
      if (due !== undefined) jobs.push(createPostingJob(id, due));
      await queues.enqueue(jobs);
    }
  }

  return { contract, handle };
}

/** When to try again after a failed attempt (ms); undefined after the last one. */
export function nextAttemptAt(
  { scheduleMs, maxRetryAfterMs, jitter }: WebhookPacing,
  attempts: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = scheduleMs[attempts];
  if (pauseMs === undefined) return undefined;
  const delayMs = Math.max(pauseMs, Math.min(retryAfterMs, maxRetryAfterMs));
  return Date.now() + Math.round(delayMs * (1 + Math.random() * jitter));
}
