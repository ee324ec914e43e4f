import { z } from 'zod';
import { withdrawCopy } from '../../services/remote/withdrawals.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from './show-task.ts';

/** `SendMessage` of A2A with a message that withdraws an earlier one. Its answer tells nothing about that one. */
export const withdrawA2aMessageOperation = defineOperation({
  name: 'a2a_withdraw_message',
  summary: 'Withdraw a message that you sent through A2A',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({
    agent: z.string(),
    withdraws: z.string(),
    context_id: z.string().optional(),
    conversation: z.string().optional(),
    after: z.string().optional(),
  }),
  output: z.object({}),
  async run(work, { agent, withdraws, context_id, conversation, after }) {
    await withdrawCopy(work, { agent, withdraws, context_id, conversation, after });
    return {};
  },
  errors: ['THREAD_CLOSED', 'UNAVAILABLE'],
  example: {
    input: { agent: exampleAgent, withdraws: '0d4f1f6e-3f5c-4c0e-9d0c-1d9d4b8a7c11', conversation: 'thd_1' },
    output: {},
  },
});
