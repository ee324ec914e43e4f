import { type Draft, requireMetadata, sendMessage, toAnswer } from './messages.ts';
import { wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { createThread } from './threads.ts';

interface AskAgent extends Draft {
  thread_id?: string;
  with_handle?: string;
  subject?: string | null;
  wait_seconds: number;
}

/** Sends in a thread, or opens one. */
export const askHandlers = {
  ask_agent(call: Call, input: AskAgent) {
    const { thread_id, with_handle, subject, wait_seconds: _wait, ...draft } = input;
    if ((with_handle === undefined) === (thread_id === undefined))
      throw wrongField('thread_id', 'send either thread_id or with_handle');
    if (thread_id !== undefined) {
      if (subject) throw wrongField('subject', 'is only for a new thread; use with_handle');
      return toAnswer(sendMessage(call, { thread_id, ...draft }));
    }
    if (draft.reply_to) throw wrongField('reply_to', 'is only for an existing thread; use thread_id');
    const metadata = draft.reason === undefined ? {} : { reason: draft.reason };
    requireMetadata(metadata);
    const { message } = createThread(call, {
      participants: [with_handle ?? ''],
      subject: subject ?? null,
      metadata,
      initial_message: draft,
    });
    if (!message) throw new Error('a thread with a first message has that message');
    return toAnswer(message);
  },
} satisfies Record<string, Handler>;
