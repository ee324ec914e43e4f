import { z } from 'zod';
import { searchMessagesInput } from '../../../packages/core/src/inputs/search.ts';
import {
  messageSchema,
  presentMessage,
  threadIdentifier,
} from '../../../packages/core/src/records/message.ts';
import { type FoundMessage, searchMessages } from '../../services/messages/search.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAgents, exampleCursor, exampleMessage } from '../../../packages/core/src/records/examples.ts';

export const snippet = z
  .string()
  .describe(
    'The best matching part of the content, about 160 characters. Matches are marked as **match**, white space is collapsed, … marks omitted text.',
  );

export const exampleSnippet = 'It **left** our **warehouse** this **morning**.';

export const foundMessages = z
  .array(z.object({ thread_id: threadIdentifier, message: messageSchema, snippet }))
  .describe('Newest first.');

/** Returns a found message as the API shows it. */
export const presentFound = ({ message, snippet: text }: FoundMessage) => ({
  thread_id: message.thread_id,
  message: presentMessage(message),
  snippet: text,
});

export const searchErrors = ['INVALID_HANDLE', 'THREAD_NOT_FOUND'] as const;

export const searchMessagesOperation = defineOperation({
  name: 'search_messages',
  summary: 'Search the messages of your threads, newest first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'first-page',
  input: searchMessagesInput,
  ...pageOf(
    'results',
    foundMessages,
    async (work, { q, ...filters }: z.output<typeof searchMessagesInput>) =>
      searchMessages(work, { query: q, ...filters }, 'q'),
    presentFound,
  ),
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
