import { z } from 'zod';
import {
  messageSchema,
  presentMessage,
  threadIdentifier,
} from '../../../packages/core/src/records/message.ts';
import { searchConversationsForAgent } from '../../services/messages/search.ts';
import { defineOperation } from '../define.ts';
import { exampleCursor, exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { agentReference, nextCursor, pageFields } from '../../../packages/core/src/inputs/fields.ts';
import { exampleSnippet, snippet } from './search-messages.ts';
import { messageQuery } from '../../../packages/core/src/inputs/search.ts';

export const searchConversationsOperation = defineOperation({
  name: 'search_conversations',
  summary: 'Search the messages in the threads of all agents of the same people, newest first',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({
    q: messageQuery,
    agent: agentReference.optional().describe('Only threads of this one of your agents, by id or handle.'),
    counterpart: agentReference.optional().describe('Only threads with this other member, by id or handle.'),
    ...pageFields(50, 20),
  }),
  output: z.object({
    results: z
      .array(z.object({ thread_id: threadIdentifier, message: messageSchema, snippet }))
      .describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  async run(work, { q, ...filters }) {
    const { found, next_cursor } = await searchConversationsForAgent(work, { query: q, ...filters });
    const results = found.map(({ message, snippet: text }) => ({
      thread_id: message.thread_id,
      message: presentMessage(message),
      snippet: text,
    }));
    return { results, next_cursor };
  },
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
