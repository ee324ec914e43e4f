import { askAgentInput, askInThreadInput, toDraft } from '../../../../core/src/inputs/messages.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import { type Call, defineHandler } from '../core/state.ts';
import { openTask, presentTask, type Question } from './tasks.ts';

/** Asks; the answer before the wait for the reply. */
function ask(call: Call, question: Omit<Question, 'accepted_output_modes'>): object {
  const { message, task } = openTask(call, { ...question, accepted_output_modes: [] });
  return {
    message: presentMessage(message),
    reply: null,
    task: task && presentTask(call, task),
    after_sequence: message.sequence,
    cursor: 'latest',
  };
}

export const askHandlers = {
  /** Asks in a thread, or in a new one. */
  ask_agent: defineHandler(askAgentInput, (call, input) => {
    const { thread_id, with_handle, of, subject, due_in_seconds, wait_seconds: _wait, ...fields } = input;
    const about = { thread_id, asked: with_handle ?? of, subject: subject || null, due_in_seconds };
    return ask(call, { ...about, reason: fields.reason, draft: toDraft(fields) });
  }),
  ask_in_thread: defineHandler(askInThreadInput, (call, input) => {
    const { thread_id, of: asked, due_in_seconds, wait_seconds: _wait, ...fields } = input;
    const draft = toDraft(fields);
    return ask(call, { thread_id, asked, subject: null, reason: undefined, draft, due_in_seconds });
  }),
};
