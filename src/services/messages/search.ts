import { minIdAt } from '../../domain/ids.ts';
import { parseSearch, toTsQuery } from '../../domain/search/query.ts';
import { createSnippet } from '../../domain/search/snippets.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { parseAgentKey, readRelationships, requireThread } from '../access.ts';
import { mapInTurns } from '../../shared/map-in-turns.ts';
import { type PageRequest, readPage } from '../paging.ts';

export interface SearchMessages extends PageRequest {
  query: string;
  thread_id?: string | undefined;
  /** Handle or id. */
  counterpart?: string | undefined;
  /** Handle or id. */
  from?: string | undefined;
  /** Milliseconds; from this time on. */
  after?: number | undefined;
  /** Milliseconds; before this time. */
  before?: number | undefined;
  has?: 'attachment' | undefined;
}

/** The time in an id and that of its message are of clocks that may differ by less than this, in milliseconds. */
const maxClockSkewMs = 3_600_000;
const maxTime = Number.MAX_SAFE_INTEGER;

/**
 * A page of the messages that the actor may read and that match, newest first, each with the part that was found. An agent that
 * is unknown or hidden has written nothing and shares no thread. New messages move no page that is being read.
 * @param field what the caller calls the query, for the details of a refusal.
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE, INVALID_CURSOR; THREAD_NOT_FOUND for a thread of others.
 */
export async function searchMessages(work: Work, input: SearchMessages, field: string) {
  const terms = parseSearch(input.query, field);
  const counterpart = input.counterpart === undefined ? null : parseAgentKey(input.counterpart);
  const sender = input.from === undefined ? null : parseAgentKey(input.from);
  const { query, thread_id = null, after = 0, before = maxTime, has = null } = input;
  const reader = work.actor.agent_id;
  if (thread_id !== null) await requireThread(work, thread_id);
  const shared = await work.messageSearch.listThreads(reader, counterpart);
  const threads = shared.filter((thread) => thread_id === null || thread.thread_id === thread_id);
  const last = threads.reduce((time, { last_message_at }) => Math.max(time, last_message_at), 0);
  const filter = {
    thread_ids: threads.map((thread) => thread.thread_id),
    query: toTsQuery(terms),
    from_id: minIdAt('message', after - maxClockSkewMs),
    after,
    before,
    sender,
    with_attachment: has === 'attachment',
  };
  // Nothing is above it; so the search begins where the reader's threads end, however much others wrote since.
  const top = minIdAt('message', Math.min(before, last + 1) + maxClockSkewMs);
  const { rows, next_cursor } = await readPage(work, input, {
    binding: ['search_messages', query, thread_id, counterpart, sender, after, before, has],
    rows: (behind: [string] | null, limit) =>
      work.messageSearch.search(reader, { ...filter, below_id: behind?.[0] ?? top, limit }),
    position: (message) => [message.id],
  });
  // A snippet of a long message takes milliseconds.
  const found = await mapInTurns(rows, (message) => ({
    message,
    snippet: createSnippet(message.content, terms),
  }));
  return { found, next_cursor };
}

/** As `searchMessages`, each message with how its sender belongs to the reader. */
export async function searchMessagesWithSenders(work: Work, input: SearchMessages, field: string) {
  const { found, next_cursor } = await searchMessages(work, input, field);
  const senders = found.map(({ message }) => message.sender_id);
  const relationships = await readRelationships(work, senders);
  const known = found.map(({ message, snippet }) => ({
    message,
    snippet,
    relationship: relationships.get(message.sender_id) ?? ('none' as const),
  }));
  return { found: known, next_cursor };
}
