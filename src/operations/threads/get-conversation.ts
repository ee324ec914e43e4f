import { z } from 'zod';
import { conversationSchema, presentConversation } from '../../../packages/core/src/records/conversation.ts';
import { presentReceipt, receiptSchema } from '../../../packages/core/src/records/receipt.ts';
import { presentToolMessage, toolMessageSchema } from '../../../packages/core/src/records/tool-message.ts';
import { readConversation } from '../../services/threads/conversations.ts';
import { defineOperation } from '../define.ts';
import { exampleConversation } from '../examples/conversations.ts';
import { exampleAgents, exampleMessage, exampleThread } from '../../../packages/core/src/records/examples.ts';
import { pageLimit, sequenceFrom, threadId } from '../../../packages/core/src/inputs/fields.ts';

export const getConversationOperation = defineOperation({
  name: 'get_conversation',
  summary: 'Retrieve a thread of an agent of the same people, with its latest messages and receipts',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({
    thread_id: threadId,
    message_limit: pageLimit(100, 50),
    before_sequence: sequenceFrom(1).optional().describe('Only messages before this sequence.'),
  }),
  output: z.object({
    conversation: conversationSchema,
    messages: z
      .array(toolMessageSchema)
      .describe('Ordered by sequence. Relationships are those to the first of your agents.'),
    receipts: z.array(receiptSchema).describe('One per member, in the order in which they joined.'),
    earlier: z.boolean().describe('Whether there are earlier messages.'),
  }),
  async run(work, { thread_id, message_limit, before_sequence }) {
    const { conversation, messages, receipts, earlier } = await readConversation(
      work,
      { agent_id: work.actor.agent_id },
      { thread_id, limit: message_limit, before_sequence },
    );
    return {
      conversation: presentConversation(conversation),
      messages: messages.map(({ relationship, ...row }) => presentToolMessage(row, relationship)),
      receipts: receipts.map(presentReceipt),
      earlier,
    };
  },
  rest: { method: 'GET', path: '/conversations/{thread_id}', status: 200 },
  errors: ['THREAD_NOT_FOUND'],
  example: {
    input: { thread_id: exampleThread.id, message_limit: 1 },
    output: {
      conversation: exampleConversation,
      messages: [{ ...exampleMessage, relationship: 'self' }],
      receipts: [
        {
          agent: exampleAgents.planner,
          delivered_up_to_sequence: 2,
          read_up_to_sequence: 1,
          handled_up_to_sequence: 0,
        },
        {
          agent: exampleAgents.support,
          delivered_up_to_sequence: 2,
          read_up_to_sequence: 2,
          handled_up_to_sequence: 0,
        },
      ],
      earlier: true,
    },
  },
});
