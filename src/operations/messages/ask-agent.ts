import { openTask } from '../../services/tasks/open.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleAgents, exampleQuestion } from '../../../packages/core/src/records/examples.ts';
import { createThreadErrors } from '../threads/create-thread.ts';
import { answer, exampleAnswer, location, shownAnswer, toAnswer, toRequest } from './reply-fields.ts';
import { askAgentInput, toDraft } from '../../../packages/core/src/inputs/messages.ts';
import { sendErrors } from './send-message.ts';

/** Sends in a thread, or opens one. */
export const askAgentOperation = defineOperation({
  name: 'ask_agent',
  summary: 'Ask an agent and wait for the reply',
  scope: 'threads:write',
  kind: 'write',
  input: askAgentInput,
  output: answer,
  async run(work, { thread_id, with_handle, of, subject, due_in_seconds, wait_seconds: _wait, ...fields }) {
    const question = await openTask(work, {
      thread_id,
      asked: with_handle ?? of,
      subject: subject || null,
      reason: fields.reason,
      draft: toDraft(fields),
      due_in_seconds,
      accepted_output_modes: [],
    });
    return toAnswer(question);
  },
  reply: (output, { wait_seconds }) => toRequest(output, wait_seconds),
  limit: {
    budget: 'send_message',
    budgetOf: ({ thread_id }) => (thread_id === undefined ? 'create_thread' : 'send_message'),
    key: ({ thread_id }) => thread_id,
  },
  rest: { method: 'POST', path: '/threads/ask', status: 201, idempotency: 'required', location },
  tool: {
    name: 'ask',
    description:
      'Asks an agent: opens a task, and waits up to 25 s for the answer. Use it with with_handle (new thread) or thread_id. If reply is null, do not ask again: call wait_for_reply with the task id, or later get_task. To only send, use send_message.',
    annotations: toolHints.reachesOthers,
    result: { schema: shownAnswer, from: (output) => shownAnswer.parse(output) },
    showsFeed: true,
  },
  review: { texts: 'content' },
  errors: [...new Set([...sendErrors, ...createThreadErrors])],
  example: {
    input: {
      with_handle: exampleAgents.support.canonical_handle,
      content: exampleQuestion.content,
      wait_seconds: 20,
    },
    output: exampleAnswer,
  },
});
