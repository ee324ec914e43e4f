import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { parseSearch, toTsQuery, toWordsQuery } from '../../../packages/core/src/domain/search/query.ts';
import { createSnippet } from '../../../packages/core/src/domain/search/snippets.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey, readRelationships, requireThread } from '../access.ts';
import { mapInTurns } from '../../shared/map-in-turns.ts';
import type { ConversationReader } from '../threads/conversations.ts';
import { type PageRequest, readPage } from '../paging.ts';

export interface SearchMessages extends PageRequest {
  query: string;
  thread_id?: string | undefined;
  /** Handle or id. */
  counterpart?: string | undefined;
  /** Handle or id. */
  from?: string | undefined;
  /** Milliseconds, inclusive. */
  after?: number | undefined;
  /** Milliseconds, exclusive. */
  before?: number | undefined;
  has?: 'attachment' | undefined;
}

/** Upper bound of the difference between the time in a message id and its `created_at`, which come from different clocks. */
const maxClockSkewMs = 3_600_000;
const maxTime = Number.MAX_SAFE_INTEGER;

/**
 * Returns a page of the messages that the actor can read and that match, newest first, each with a snippet. Filtering by an unknown or
 * hidden agent finds nothing. New messages do not shift later pages.
 * @param field the caller's name of the query parameter, for validation errors.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE, INVALID_CURSOR; THREAD_NOT_FOUND, also for a thread of others
 */
export async function searchMessages(work: Work, input: SearchMessages, field: string) {
  const terms = parseSearch(input.query, field);
  const counterpart = input.counterpart === undefined ? null : parseAgentKey(input.counterpart);
  const sender = input.from === undefined ? null : parseAgentKey(input.from);
  const { query, thread_id = null, after = 0, before = maxTime, has = null } = input;
  const reader = work.actor.agent_id;
  if (thread_id !== null) await requireThread(work, thread_id);
  const readable = await work.db.messageSearch.listThreads(reader, counterpart);
  const threads = readable.filter((thread) => thread_id === null || thread.thread_id === thread_id);
  const last = threads.reduce((time, { last_message_at }) => Math.max(time, last_message_at), 0);
  const filter = {
    thread_ids: threads.map((thread) => thread.thread_id),
    messages: threads.reduce((sum, { last_sequence }) => sum + last_sequence, 0),
    query: toTsQuery(terms),
    words: toWordsQuery(terms),
    from_id: minIdAt('message', after - maxClockSkewMs),
    after,
    before,
    sender,
    with_attachment: has === 'attachment',
  };
  // The search begins at the end of the reader's threads, not at the newest message of the service.
  const maxId = minIdAt('message', Math.min(before, last + 1) + maxClockSkewMs);
  const { rows, next_cursor } = await readPage(work, input, {
    binding: ['search_messages', query, thread_id, counterpart, sender, after, before, has],
    rows: (position: [string] | null, limit) =>
      work.db.messageSearch.search(reader, { ...filter, below_id: position?.[0] ?? maxId, limit }),
    position: (message) => [message.id],
  });
  // A snippet of a long message takes milliseconds, so the event loop gets a chance between them.
  const found = await mapInTurns(rows, (message) => ({
    message,
    snippet: createSnippet(message.content, terms),
  }));
  return { rows: found, next_cursor };
}

/** A message that matches, and its part with the terms. */
export interface FoundMessage {
  message: MessageRow;
  snippet: string;
}

export interface SearchConversations {
  query: string;
  /** Id or handle of one of the reader's agents. */
  agent?: string | undefined;
  /** Id or handle of another member. */
  counterpart?: string | undefined;
}

/**
 * Returns the messages in the conversations of a reader that match and have ids below `before_id`, newest first, each with a snippet.
 * @param field the caller's name of the query parameter, for validation errors.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE
 */
export async function searchConversations(
  { db: { conversations, messageSearch } }: ReadWork,
  reader: ConversationReader,
  input: SearchConversations,
  { before_id, limit, field }: { before_id: string | null; limit: number; field: string },
): Promise<FoundMessage[]> {
  const terms = parseSearch(input.query, field);
  const searched = await conversations.listSearched(reader, {
    agent: input.agent === undefined ? null : parseAgentKey(input.agent),
    counterpart: input.counterpart === undefined ? null : parseAgentKey(input.counterpart),
  });
  const rows = await messageSearch.search(searched.agent_ids, {
    thread_ids: searched.thread_ids,
    messages: searched.messages,
    query: toTsQuery(terms),
    words: toWordsQuery(terms),
    from_id: minIdAt('message', 0),
    below_id: before_id ?? minIdAt('message', searched.last_message_at + 1 + maxClockSkewMs),
    after: 0,
    before: maxTime,
    sender: null,
    with_attachment: false,
    limit,
  });
  return mapInTurns(rows, (message) => ({ message, snippet: createSnippet(message.content, terms) }));
}

/**
 * Returns a page of the matching messages in the conversations of the people of the actor.
 * @throws {DomainError} as `searchConversations`; INVALID_CURSOR
 */
export async function searchConversationsForAgent(work: Work, input: SearchConversations & PageRequest) {
  const { query, agent = null, counterpart = null } = input;
  return readPage(work, input, {
    binding: ['search_conversations', query, agent, counterpart],
    rows: (last: readonly [string] | null, limit) =>
      searchConversations(work, { agent_id: work.actor.agent_id }, input, {
        before_id: last?.[0] ?? null,
        limit,
        field: 'q',
      }),
    position: ({ message }) => [message.id] as const,
  });
}

/** The same as `searchMessages`, each message with the relationship of its sender to the reader. */
export async function searchMessagesWithSenders(work: Work, input: SearchMessages, field: string) {
  const { rows: found, next_cursor } = await searchMessages(work, input, field);
  const senders = found.map(({ message }) => message.sender_id);
  const relationships = await readRelationships(work, senders);
  const withRelationships = found.map(({ message, snippet }) => ({
    message,
    snippet,
    relationship: relationships.get(message.sender_id) ?? ('none' as const),
  }));
  return { found: withRelationships, next_cursor };
}
