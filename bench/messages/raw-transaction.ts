import { createHash, randomUUID } from 'node:crypto';
import { newId } from '../../src/domain/ids.ts';
import { jobsForEvent } from '../../src/jobs/outbox-jobs.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { commitStatement } from '../../src/work/commit.ts';
import { messagesRepository } from '../../src/repositories/messages/messages.ts';
import { threadsRepository } from '../../src/repositories/threads/threads.ts';
import type { Thread } from '../population.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest();
/** The outbox sweep must not enqueue these jobs. */
const neverMs = 24 * 60 * 60 * 1000;

/** Runs only the SQL of one send: the statements of the repositories, in the order in which a send runs them. */
export async function runRawTransaction(database: Database, thread: Thread, content: string): Promise<void> {
  const [sender] = thread.members;
  const now = Date.now();
  const key_hash = sha256(randomUUID());
  const transaction = await database.begin();
  try {
    const message = { id: newId('message'), thread_id: thread.id, sender_id: sender.id, content };
    const rest = { content_type: 'text' as const, reply_to: null, metadata: {}, created_at: now };
    const threads = threadsRepository(transaction);
    const [, , sequence] = await Promise.all([
      threads.lockForMessage(thread.id, sender.id),
      threads.readAudience(thread.id, sender.id),
      messagesRepository(transaction).append({ ...message, ...rest, attachment_count: 0 }, null),
    ]);
    const event = {
      id: newId('event'),
      type: 'message.created' as const,
      thread_id: thread.id,
      message_id: message.id,
    };
    await transaction.commit(
      commitStatement({
        now,
        events: [{ ...event, data: null, traceparent: null }],
        touched: [],
        entries: thread.members.map(({ id }) => ({ agent_id: id, event_id: event.id })),
        jobs: jobsForEvent(event),
        job_grace: neverMs,
        // As long as the response that a send stores.
        keys: [
          {
            key_hash,
            request_hash: key_hash,
            answer: JSON.stringify({ ...message, ...rest, sequence, sender, attachments: [] }),
          },
        ],
      }),
    );
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
