import { z } from 'zod';
import { presentReceipt, receiptSchema } from '../../../packages/core/src/records/receipt.ts';
import { listThreadReceipts } from '../../services/threads/receipts.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';
import { threadId } from '../../../packages/core/src/inputs/fields.ts';

export const listReceiptsOperation = defineOperation({
  name: 'list_receipts',
  summary: 'List the delivery, read and handled receipts of a thread',
  scope: 'threads:read',
  kind: 'read',
  replica: 'any-page',
  input: z.strictObject({ thread_id: threadId }),
  output: z.object({
    receipts: z.array(receiptSchema).describe('One per member, in the order in which they joined.'),
  }),
  async run(work, { thread_id }) {
    return { receipts: (await listThreadReceipts(work, thread_id)).map(presentReceipt) };
  },
  rest: { method: 'GET', path: '/threads/{thread_id}/receipts', status: 200 },
  errors: ['THREAD_NOT_FOUND'],
  example: {
    input: { thread_id: exampleThread.id },
    output: {
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
          handled_up_to_sequence: 1,
        },
      ],
    },
  },
});
