import { messageReference } from '../../../packages/core/src/inputs/messages.ts';
import { withdrawnContent } from '../../../packages/core/src/domain/withdrawals.ts';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { withdrawMessage } from '../../services/messages/withdraw.ts';
import { defineOperation } from '../define.ts';
import { exampleMessage } from '../../../packages/core/src/records/examples.ts';

export const withdrawMessageOperation = defineOperation({
  name: 'withdraw_message',
  summary: 'Withdraw a message that you sent',
  scope: 'threads:write',
  kind: 'write',
  input: messageReference,
  output: messageSchema,
  async run(work, { message_id }) {
    return presentMessage(await withdrawMessage(work, message_id));
  },
  rest: { method: 'POST', path: '/messages/{message_id}/withdraw', status: 200 },
  errors: ['MESSAGE_NOT_FOUND', 'FORBIDDEN', 'THREAD_CLOSED'],
  example: {
    input: { message_id: exampleMessage.id },
    output: { ...exampleMessage, ...withdrawnContent, withdrawn_at: exampleMessage.created_at + 60_000 },
  },
});
