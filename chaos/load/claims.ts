import { z } from 'zod';
import type { CallerName, Lease } from '../history.ts';
import { type ActionResult, readAnswer } from './actions.ts';
import type { Caller } from './call.ts';

/** An instance of an agent, which claims items over one transport. */
export interface Instance {
  agent_id: string;
  /** Its name; a restarted instance has another one. */
  consumer: string;
  kind: CallerName;
  caller: Caller;
  /** Aborts when the instance is killed. */
  signal: AbortSignal;
}

/** The shortest leases that the service gives, so that many expire during a run. */
export const leaseSeconds = 5;
const waitSeconds = 1;
const timeoutMs = 4_000;

const message = z.looseObject({
  id: z.string(),
  thread_id: z.string(),
  sequence: z.int(),
  metadata: z.looseObject({ is_reply: z.boolean().optional() }),
});
const answer = z.looseObject({
  leases: z.array(
    z.looseObject({
      id: z.string().optional(),
      lease_id: z.string().optional(),
      fencing_token: z.int(),
      attempt: z.int(),
      expires_at: z.int(),
      event: z.looseObject({ id: z.string(), data: message }),
    }),
  ),
});

/** A lease, and whether its message is itself a reply of an instance, which is not answered. */
export interface ClaimedItem {
  lease: Lease;
  isReply: boolean;
}

/** Claims up to `max` items, or waits for the first one. */
export async function claimItems(instance: Instance, max: number): Promise<ActionResult<ClaimedItem[]>> {
  const { agent_id, consumer, kind, caller, signal } = instance;
  const input = { max, lease_seconds: leaseSeconds, wait_seconds: waitSeconds, consumer };
  const sent_at = Date.now();
  const outcome = await caller('claim_messages', input, { timeoutMs, signal });
  const received_at = Date.now();
  const read = readAnswer(outcome, answer);
  if (!('answer' in read)) return read;
  return {
    answer: read.answer.leases.map(
      ({ id, lease_id = id ?? '', fencing_token, attempt, expires_at, event }) => ({
        lease: {
          agent_id,
          consumer,
          kind,
          course: '',
          lease_id,
          fencing_token,
          attempt,
          expires_at,
          sent_at,
          received_at,
          event_id: event.id,
          message_id: event.data.id,
          thread_id: event.data.thread_id,
          sequence: event.data.sequence,
          writes: [],
        },
        isReply: event.data.metadata.is_reply === true,
      }),
    ),
  };
}
