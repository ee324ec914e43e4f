import { z } from 'zod';
import { checkClientMessage } from '../../services/a2a/send.ts';
import { defineOperation } from '../define.ts';
import { sendA2aMessageOperation } from './send-message.ts';
import { exampleAgent } from './show-task.ts';

const checkedMessage = z.object({ is_new: z.boolean() });

/** Runs before the files of a message are stored. */
export const checkA2aMessageOperation = defineOperation({
  name: 'a2a_check_message',
  summary: 'Check whether a message of A2A would be accepted, and whether it was sent before',
  scope: 'threads:write',
  kind: 'read',
  input: z.strictObject({
    agent: z.string(),
    message_id: z.string(),
    task_id: z.string().optional(),
    context_id: z.string().optional(),
  }),
  output: checkedMessage,
  run: async (work, { task_id, context_id, ...message }) => ({
    is_new: await checkClientMessage(work, { ...message, task_id, context_id }),
  }),
  errors: sendA2aMessageOperation.errors,
  example: {
    input: { agent: exampleAgent, message_id: '0d4f1f6e-3f5c-4c0e-9d0c-1d9d4b8a7c11' },
    output: { is_new: true },
  },
});
