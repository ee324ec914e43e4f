import { openTask } from '../../services/tasks/open.ts';
import { defineOperation } from '../define.ts';
import { exampleQuestion } from '../../../packages/core/src/records/examples.ts';
import { answer, exampleAnswer, location, toAnswer, toRequest } from './reply-fields.ts';
import { askInThreadInput, toDraft } from '../../../packages/core/src/inputs/messages.ts';
import { sendErrors } from './send-message.ts';

/** Sends in a thread that exists. */
export const askInThreadOperation = defineOperation({
  name: 'ask_in_thread',
  summary: 'Send a message in a thread and wait for the reply',
  scope: 'threads:write',
  kind: 'write',
  input: askInThreadInput,
  output: answer,
  async run(work, { thread_id, of, due_in_seconds, wait_seconds: _wait, ...fields }) {
    const draft = toDraft(fields);
    const question = {
      thread_id,
      asked: of,
      subject: null,
      reason: undefined,
      draft,
      due_in_seconds,
    };
    return toAnswer(await openTask(work, { ...question, accepted_output_modes: [] }));
  },
  reply: (output, { wait_seconds }) => toRequest(output, wait_seconds),
  limit: { budget: 'send_message', key: ({ thread_id }) => thread_id },
  rest: {
    method: 'POST',
    path: '/threads/{thread_id}/ask',
    status: 201,
    idempotency: 'required',
    location,
  },
  review: { texts: 'content' },
  errors: sendErrors,
  example: {
    input: { thread_id: exampleQuestion.thread_id, content: exampleQuestion.content, wait_seconds: 20 },
    output: exampleAnswer,
  },
});
