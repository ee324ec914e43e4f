import { z } from 'zod';
import { maxQueryLength } from '../../domain/search/query.ts';
import { messageSchema, presentMessage, threadIdentifier } from '../../presenters/message.ts';
import { searchMessages } from '../../services/messages/search.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleCursor, exampleMessage } from '../examples/records.ts';
import { agentReference, nextCursor, pageFields, threadId } from '../fields.ts';

export const searchedText = z
  .string()
  .min(1)
  .max(maxQueryLength)
  .describe(
    'Words that must all be there. "words in quotes" stand side by side, -word must not be there, word* stands for every word that begins so. At most 20 terms, 5 of them with *. Accents and case do not matter; text without spaces is found too.',
  );

const time = z.int().min(0);

export const searchFilters = {
  thread_id: threadId.optional().describe('Only in this thread.'),
  counterpart: agentReference.optional().describe('Only in threads that this agent is a member of too.'),
  from: agentReference.optional().describe('Only messages of this sender.'),
  after: time.optional().describe('Only messages of this time or later, in ms since the epoch.'),
  before: time.optional().describe('Only messages before this time, in ms since the epoch.'),
  has: z.literal('attachment').optional().describe('Only messages with attachments.'),
  ...pageFields(50, 20),
};

export const snippet = z
  .string()
  .describe(
    'The part of the content in which most was found, about 160 characters: each hit as **hit**, white space collapsed, … where something was left out.',
  );

export const exampleSnippet = 'It **left** our **warehouse** this **morning**.';

export const searchErrors = ['INVALID_HANDLE', 'THREAD_NOT_FOUND'] as const;

export const searchMessagesOperation = defineOperation({
  name: 'search_messages',
  summary: 'Search the messages of your threads, newest first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject({ q: searchedText, ...searchFilters }),
  output: z.object({
    results: z
      .array(z.object({ thread_id: threadIdentifier, message: messageSchema, snippet }))
      .describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  async run(work, { q, ...filters }) {
    const { found, next_cursor } = await searchMessages(work, { query: q, ...filters }, 'q');
    const results = found.map((result) => ({
      thread_id: result.message.thread_id,
      message: presentMessage(result.message),
      snippet: result.snippet,
    }));
    return { results, next_cursor };
  },
  limit: 'message_search',
  rest: { method: 'GET', path: '/messages/search', status: 200 },
  errors: searchErrors,
  example: {
    input: { q: 'warehouse morn* -invoice', from: exampleAgents.support.canonical_handle, limit: 1 },
    output: {
      results: [{ thread_id: exampleMessage.thread_id, message: exampleMessage, snippet: exampleSnippet }],
      next_cursor: exampleCursor,
    },
  },
});
