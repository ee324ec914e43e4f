import { z } from 'zod';
import { conversationWaits, threadStatuses } from '../../../packages/core/src/domain/threads.ts';
import { conversationSchema, presentConversation } from '../../../packages/core/src/records/conversation.ts';
import { listConversations } from '../../services/threads/conversations.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleConversation } from '../examples/conversations.ts';
import { exampleAgents, exampleCursor } from '../../../packages/core/src/records/examples.ts';
import { agentReference, pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listConversationsOperation = defineOperation({
  name: 'list_conversations',
  summary: 'List the threads of all agents of the same people, most recently active first',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({
    agent: agentReference.optional().describe('Only threads of this one of your agents, by id or handle.'),
    counterpart: agentReference.optional().describe('Only threads with this other member, by id or handle.'),
    status: z
      .enum(threadStatuses)
      .optional()
      .describe('Only threads with this status. Default: all except archived.'),
    waiting: z
      .enum(conversationWaits)
      .optional()
      .describe(
        'Only active threads whose last message expects a reply: of another agent (me), or of one of your agents (others).',
      ),
    unread: z
      .boolean()
      .optional()
      .describe('true: only threads with messages that one of your agents has not read.'),
    ...pageFields(100, 20),
  }),
  ...pageOf(
    'conversations',
    z.array(conversationSchema).describe('Most recently active first.'),
    listConversations,
    presentConversation,
  ),
  rest: { method: 'GET', path: '/conversations', status: 200 },
  errors: ['INVALID_HANDLE'],
  example: {
    input: { waiting: 'me', counterpart: exampleAgents.support.canonical_handle, limit: 20 },
    output: { conversations: [exampleConversation], next_cursor: exampleCursor },
  },
});
