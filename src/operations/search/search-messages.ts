import { z } from 'zod';
import { searchMessagesInput } from '../../../packages/core/src/inputs/search.ts';
import {
  messageSchema,
  presentMessage,
  threadIdentifier,
} from '../../../packages/core/src/records/message.ts';
import { searchMessages } from '../../services/messages/search.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleCursor, exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { nextCursor } from '../../../packages/core/src/inputs/fields.ts';

export const snippet = z
  .string()
  .describe(
    'The best matching part of the content, about 160 characters. Matches are marked as **match**, white space is collapsed, … marks omitted text.',
  );

export const exampleSnippet = 'It **left** our **warehouse** this **morning**.';

export const searchErrors = ['INVALID_HANDLE', 'THREAD_NOT_FOUND'] as const;

export const searchMessagesOperation = defineOperation({
  name: 'search_messages',
  summary: 'Search the messages of your threads, newest first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'first-page',
  input: searchMessagesInput,
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
  limit: { budget: 'message_search' },
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
