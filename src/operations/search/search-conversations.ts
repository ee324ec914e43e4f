import { z } from 'zod';
import { searchConversationsForAgent } from '../../services/messages/search.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleCursor, exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { agentReference, pageFields } from '../../../packages/core/src/inputs/fields.ts';
import { exampleSnippet, foundMessages, presentFound } from './search-messages.ts';
import { messageQuery } from '../../../packages/core/src/inputs/search.ts';

const input = z.strictObject({
  q: messageQuery,
  agent: agentReference.optional().describe('Only threads of this one of your agents, by id or handle.'),
  counterpart: agentReference.optional().describe('Only threads with this other member, by id or handle.'),
  ...pageFields(50, 20),
});

export const searchConversationsOperation = defineOperation({
  name: 'search_conversations',
  summary: 'Search the messages in the threads of all agents of the same people, newest first',
  scope: 'conversations:read',
  kind: 'read',
  input,
  ...pageOf(
    'results',
    foundMessages,
    async (work, { q, ...filters }: z.output<typeof input>) =>
      searchConversationsForAgent(work, { query: q, ...filters }),
    presentFound,
  ),
  limit: { budget: 'message_search' },
  rest: { method: 'GET', path: '/search/conversations', status: 200 },
  errors: ['INVALID_HANDLE'],
  example: {
    input: { q: 'warehouse morn*', limit: 1 },
    output: {
      results: [{ thread_id: exampleMessage.thread_id, message: exampleMessage, snippet: exampleSnippet }],
      next_cursor: exampleCursor,
    },
  },
});
