import { wrongField } from '../../../../core/src/domain/errors.ts';
import { askAgentInput, toDraft } from '../../../../core/src/inputs/messages.ts';
import { metadataOf } from '../../../../core/src/inputs/threads.ts';
import { defineHandler } from '../core/state.ts';
import { sendMessage, toAnswer } from './messages.ts';
import { createThread } from './threads.ts';

/** Sends in a thread, or opens one. */
export const askHandlers = {
  ask_agent: defineHandler(askAgentInput, (call, input) => {
    const { thread_id, with_handle, subject, wait_seconds: _wait, ...fields } = input;
    if (thread_id !== undefined) {
      if (subject) throw wrongField('subject', 'is only for a new thread; use with_handle');
      return toAnswer(sendMessage(call, thread_id, toDraft(fields)));
    }
    if (fields.reply_to) throw wrongField('reply_to', 'is only for an existing thread; use thread_id');
    const { message } = createThread(call, {
      participants: [with_handle ?? ''],
      subject: subject || null,
      metadata: metadataOf({ reason: fields.reason }),
      initial_message: toDraft(fields),
    });
    if (!message) throw new Error('a thread with a first message has that message');
    return toAnswer(message);
  }),
};
