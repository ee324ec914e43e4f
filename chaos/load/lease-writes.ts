import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ReportedTaskState } from '../../packages/core/src/domain/tasks.ts';
import type { Draft, Lease, LeaseAnswer, LeaseWrite, SentMessage } from '../history.ts';
import { type ActionResult, readAnswer, searchWord, sentMessage } from './actions.ts';
import type { Caller, Outcome } from './call.ts';
import { newAttempt, type Retry } from './retry.ts';

/** Codes of a write whose lease has ended. Without its membership, an agent finds no thread to answer in. */
const lostCodes: ReadonlySet<string | undefined> = new Set(['LEASE_LOST', 'THREAD_NOT_FOUND']);

const done = (fields: { expires_at?: number; message?: SentMessage | null } = {}): LeaseAnswer => ({
  lost: false,
  expires_at: null,
  message: null,
  ...fields,
});
const renewed = z.looseObject({ expires_at: z.int() }).transform(({ expires_at }) => done({ expires_at }));
const released = z.unknown().transform(() => done());
const acknowledged = z
  .looseObject({ message: sentMessage.nullable() })
  .transform(({ message }) => done({ message }));
const sent = sentMessage.transform((message) => done({ message }));
const allAcknowledged = z
  .looseObject({ results: z.array(z.looseObject({ result: z.enum(['acknowledged', 'lost']) })) })
  .transform(({ results }) =>
    results.map(({ result }) => (result === 'lost' ? { lost: true as const } : done())),
  );

/** How an instance writes: over one transport, until it is killed. */
interface WriteParts {
  caller: Caller;
  retry: Retry;
  signal: AbortSignal;
}

/** Adds a write to a lease. @throws when the instance was killed */
function begin(
  { signal }: WriteParts,
  lease: Lease,
  kind: LeaseWrite['kind'],
  fields: Partial<LeaseWrite> = {},
): LeaseWrite {
  signal.throwIfAborted();
  const attempt = newAttempt<LeaseAnswer>({ id: lease.agent_id });
  const write: LeaseWrite = { ...attempt, kind, lease_ms: 0, draft: null, ...fields };
  lease.writes.push(write);
  return write;
}

/** What an instance does with its leases. Each function adds its write to the lease, and resolves when its outcome is known. */
export function createLeaseWrites(parts: WriteParts) {
  const { caller, retry, signal } = parts;

  /** Runs a write without a key. When it is lost to an attempt whose answer was lost, nothing is known. */
  async function once(write: LeaseWrite, run: () => Promise<ActionResult<LeaseAnswer>>): Promise<void> {
    await retry.once(write, run);
    if (write.attempts > 1 && write.kind !== 'renew' && write.answers.some(({ lost }) => lost))
      write.answers.length = 0;
  }

  return {
    async renew(lease: Lease, lease_seconds: number): Promise<void> {
      const write = begin(parts, lease, 'renew', { lease_ms: lease_seconds * 1_000 });
      const { lease_id } = lease;
      await once(write, async () =>
        read(await caller('renew_lease', { lease_id, lease_seconds }, { signal }), renewed),
      );
    },
    async release(lease: Lease, delay_seconds: number): Promise<void> {
      const input = { lease_id: lease.lease_id, delay_seconds, reason: 'chaos' };
      await once(begin(parts, lease, 'release'), async () =>
        read(await caller('release_message', input, { signal }), released),
      );
    },
    /**
     * Acknowledges a lease, with a reply or without.
     * @param task_state what the reply says about its task, if it has one; completed by default.
     */
    async acknowledge(lease: Lease, reply: Draft | null, task_state?: ReportedTaskState): Promise<void> {
      const write = begin(parts, lease, 'acknowledge', { draft: reply });
      const { lease_id } = lease;
      const input = { lease_id, ...(reply && { reply: toMessage(reply), task_state }) };
      await retry.withKey(write, async () =>
        read(await caller('acknowledge_message', input, { key: write.key, signal }), acknowledged),
      );
    },
    acknowledgeAll: (leases: readonly Lease[]) => acknowledgeAll(parts, leases),
    /** Sends a message that needs the lease. */
    async send(lease: Lease, draft: Draft): Promise<void> {
      const write = begin(parts, lease, 'send', { draft });
      const { lease_id, thread_id } = lease;
      const input = { thread_id, lease_id, reply_to: draft.reply_to, ...toMessage(draft) };
      await retry.withKey(write, async () =>
        read(await caller('send_message', input, { key: write.key, signal }), sent),
      );
    },
  };
}

/** Acknowledges several leases with one request, which has no key: after a repetition, a lost lease may be lost to the first attempt. */
async function acknowledgeAll(parts: WriteParts, leases: readonly Lease[]): Promise<void> {
  const { caller, retry, signal } = parts;
  if (leases.length === 0) return;
  const shared = newAttempt<LeaseAnswer[]>({ id: leases[0]?.agent_id ?? '' });
  const writes = leases.map((lease) => begin(parts, lease, 'acknowledge', { begun_at: shared.begun_at }));
  const ids = leases.map(({ lease_id }) => lease_id);
  await retry.once(shared, async () => {
    for (const write of writes) write.attempts += 1;
    return readAnswer(await caller('acknowledge_messages', { ids }, { signal }), allAcknowledged);
  });
  for (const [index, write] of writes.entries()) {
    const answer = shared.answers[0]?.[index];
    write.acknowledged_at = shared.acknowledged_at;
    if (answer && (shared.attempts === 1 || !answer.lost)) write.answers.push(answer);
  }
}

export type LeaseWrites = ReturnType<typeof createLeaseWrites>;

const toMessage = ({ content, content_type, metadata }: Draft) => ({ content, content_type, metadata });

function read(outcome: Outcome, schema: z.ZodType<LeaseAnswer>): ActionResult<LeaseAnswer> {
  if ('refused' in outcome && lostCodes.has(outcome.code)) return { answer: { lost: true } };
  return readAnswer(outcome, schema);
}

/** A message about an item, which itself is not answered. */
export function createReply({ message_id }: Lease, what: string): Draft {
  return {
    content: `${searchWord} ${what} ${randomUUID()}`,
    content_type: 'text',
    reply_to: message_id,
    metadata: { is_reply: true },
    attachment_ids: [],
  };
}
