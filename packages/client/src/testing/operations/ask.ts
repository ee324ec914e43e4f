import { wrongField } from '../../../../core/src/domain/errors.ts';
import { askAgentInput, askInThreadInput, toDraft } from '../../../../core/src/inputs/messages.ts';
import { type Call, defineHandler } from '../core/state.ts';
import { presentMessage } from './thread-records.ts';
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
    const isNew = thread_id === undefined;
    if (!isNew && subject) throw wrongField('subject', 'is only for a new thread; use with_handle');
    if (isNew && of !== undefined) throw wrongField('of', 'is only for a group; use thread_id');
    if (isNew && fields.reply_to)
      throw wrongField('reply_to', 'is only for an existing thread; use thread_id');
    const about = { thread_id, asked: isNew ? with_handle : of, subject: subject || null, due_in_seconds };
    return ask(call, { ...about, reason: fields.reason, draft: toDraft(fields) });
  }),
  ask_in_thread: defineHandler(askInThreadInput, (call, input) => {
    const { thread_id, of: asked, due_in_seconds, wait_seconds: _wait, ...fields } = input;
    const draft = toDraft(fields);
    return ask(call, { thread_id, asked, subject: null, reason: undefined, draft, due_in_seconds });
  }),
};
