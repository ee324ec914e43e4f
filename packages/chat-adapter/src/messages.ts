import type { Client, Message as ServiceMessage } from '@agent-messaging/client';
import { ResourceNotFoundError } from '@chat-adapter/shared';
import type { FetchOptions, FetchResult, Message } from 'chat';
import { translateErrors } from './errors.ts';
import { adapterName, decodeThreadId } from './thread-ids.ts';

const maxPageSize = 100;

/** Returns a page of a thread, oldest message first. Backward, its cursor leads to older messages; forward, to newer ones. */
export async function fetchMessages(
  client: Client,
  parse: (raw: ServiceMessage) => Message<ServiceMessage>,
  threadId: string,
  { cursor, limit = 50, direction = 'backward' }: FetchOptions = {},
): Promise<FetchResult<ServiceMessage>> {
  const { thread_id } = decodeThreadId(threadId);
  const isBackward = direction === 'backward';
  const list = client.messages.list({
    thread_id,
    cursor,
    limit: Math.min(limit, maxPageSize),
    order: isBackward ? 'desc' : 'asc',
  });
  const { messages, next_cursor } = await translateErrors(() => list.page());
  const parsed = messages.map(parse);
  if (isBackward) parsed.reverse();
  return { messages: parsed, ...(next_cursor !== undefined && { nextCursor: next_cursor }) };
}

/** Marks a message and all before it as read. */
export async function markAsRead(
  client: Client,
  threadId: string,
  messageId: string,
  known?: Message<ServiceMessage>,
): Promise<void> {
  const { thread_id } = decodeThreadId(threadId);
  await translateErrors(async () => {
    const sequence = known?.raw.sequence ?? (await findSequence(client, thread_id, messageId));
    await client.threads.markRead({ thread_id, up_to_sequence: sequence });
  });
}

async function findSequence(client: Client, thread_id: string, messageId: string): Promise<number> {
  for await (const { id, sequence } of client.messages.list({ thread_id, limit: maxPageSize }))
    if (id === messageId) return sequence;
  throw new ResourceNotFoundError(adapterName, 'message', messageId);
}
