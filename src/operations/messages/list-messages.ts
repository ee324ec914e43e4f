import { z } from 'zod';
import { listMessagesInput } from '../../../packages/core/src/inputs/messages.ts';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { listMessages } from '../../services/messages/list.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleCursor, exampleMessage } from '../../../packages/core/src/records/examples.ts';

export const listMessagesOperation = defineOperation({
  name: 'list_messages',
  summary: 'List the messages of a thread, newest first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'any-page',
  input: listMessagesInput,
  ...pageOf(
    'messages',
    z.array(messageSchema).describe('In the requested order.'),
    listMessages,
    presentMessage,
  ),
  rest: { method: 'GET', path: '/threads/{thread_id}/messages', status: 200 },
  errors: ['THREAD_NOT_FOUND'],
  example: {
    input: { thread_id: exampleMessage.thread_id, limit: 1 },
    output: { messages: [exampleMessage], next_cursor: exampleCursor },
  },
});
