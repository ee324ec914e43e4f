import { maxSequence } from '../../../packages/core/src/domain/threads.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireThread } from '../access.ts';
import { type PageRequest, readPage } from '../paging.ts';

export interface ListMessages extends PageRequest {
  thread_id: string;
  order: 'asc' | 'desc';
  after_sequence: number;
}

/**
 * A page of a thread's messages, in the requested order. New messages do not shift later pages.
 * @throws {DomainError} THREAD_NOT_FOUND, INVALID_CURSOR
 */
export async function listMessages(work: Work, input: ListMessages) {
  const { thread_id, order, after_sequence, ...page } = input;
  const thread = await requireThread(work, thread_id);
  return readPage(work, page, {
    binding: ['list_messages', thread.id, order, after_sequence],
    rows(last: readonly [number] | null, limit) {
      const range =
        order === 'asc'
          ? { below: maxSequence, above: last?.[0] ?? after_sequence }
          : { below: last?.[0] ?? maxSequence, above: after_sequence };
      return work.db.messages.list(thread, { ...range, order, limit });
    },
    position: (message) => [message.sequence],
  });
}
