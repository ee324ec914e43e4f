import { createHash, randomUUID } from 'node:crypto';
import { newId } from '../../packages/core/src/domain/ids.ts';
import { jobForEvent } from '../../src/jobs/outbox-jobs.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { commitStatement } from '../../src/work/commit.ts';
import { messageBatchesRepository } from '../../src/repositories/messages/batches.ts';
import type { Thread } from '../../scripts/parts/population.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest();
/** The outbox sweep must not enqueue these jobs. */
const neverMs = 24 * 60 * 60 * 1000;

/** Runs only the SQL of one send: the statements of the repositories, in the order in which a send runs them. */
export async function runRawTransaction(database: Database, thread: Thread, content: string): Promise<void> {
  const [sender] = thread.members;
  if (!sender) throw new Error('a thread needs members');
  const now = Date.now();
  const key_hash = sha256(randomUUID());
  const transaction = await database.begin();
  try {
    const batches = messageBatchesRepository(transaction);
    const writer = { thread_id: thread.id, agent_id: sender.id };
    const [[locked]] = await Promise.all([
      batches.lockThreads([writer], { wait: true }),
      batches.listAudiences([writer]),
      batches.listExchanges([writer]),
    ]);
    if (!locked) throw new Error(`the thread ${thread.id} is locked`);
    const sequence = locked.last_sequence + 1;
    const sending = { thread_id: thread.id, sequence, sender_id: sender.id, sender_handle: '' };
    const rest = {
      content_type: 'text' as const,
      reply_to: null,
      metadata: {},
      attachments: [],
      written_by: 'agent' as const,
    };
    const message = { id: newId('message'), ...sending, content, ...rest, created_at: now };
    const appending = batches.append({
      messages: [message],
      threads: [{ ...locked, last_sequence: sequence, last_message_at: now, last_sender_id: sender.id }],
      marks: [{ ...writer, after: sequence - 1, upto: sequence, own: 1 }],
      exchanges: [],
    });
    const event = {
      id: newId('event'),
      type: 'message.created' as const,
      thread_id: thread.id,
      message_id: message.id,
    };
    const committing = transaction.commit(
      commitStatement({
        now,
        events: [{ ...event, data: null, traceparent: null }],
        touched: [],
        raised: [],
        expected_relations: new Map(),
        entries: thread.members.map(({ id }) => ({ agent_id: id, event_id: event.id })),
        jobs: [jobForEvent(event)],
        job_grace: neverMs,
        // As long as the response that a send stores.
        keys: [
          {
            key_hash,
            request_hash: key_hash,
            answer: JSON.stringify({ ...message, sender }),
          },
        ],
      }),
    );
    await Promise.all([appending, committing]);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** Deletes the jobs of these transactions, which have nothing to deliver. */
export async function deleteRawJobs(database: Database): Promise<void> {
  const text = 'delete from outbox where due_at > created_at + $1';
  await database.query({ text }, [neverMs / 2]);
}
