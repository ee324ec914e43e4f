import type { z } from 'zod';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import { type batchMessage, sendMessagesInput, toDraft } from '../../../../core/src/inputs/messages.ts';
import { presentRefusal } from '../../../../core/src/records/refusal.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import contract from '../contract.json' with { type: 'json' };
import { type Call, defineHandler } from '../core/state.ts';
import { runOnce } from '../core/idempotency.ts';
import { sendMessage } from './messages.ts';
import { ReviewRequired } from './reviews.ts';

interface Sent {
  status: 201;
  replayed?: true;
  message: object;
}

const { method, path } = contract.operations.send_message;

/** Sends one message, as a single call with the same key does. */
async function sendPart(
  call: Call,
  thread_id: string,
  { idempotency_key: key, ...fields }: z.infer<typeof batchMessage>,
): Promise<Sent | DomainError> {
  const send = async () => structuredClone(presentMessage(sendMessage(call, thread_id, toDraft(fields))));
  try {
    if (key === undefined) return { status: 201, message: await send() };
    const about = { method, path, key, input: { thread_id, ...fields } };
    const { output, isReplayed } = await runOnce(call, about, send);
    return { status: 201, ...(isReplayed && { replayed: true }), message: output };
  } catch (thrown) {
    if (thrown instanceof DomainError && !(thrown instanceof ReviewRequired)) return thrown;
    throw thrown;
  }
}

export const batchHandlers = {
  send_messages: defineHandler(sendMessagesInput, async (call, { thread_id, messages }) => {
    const results: (Sent | DomainError)[] = [];
    for (const part of messages) results.push(await sendPart(call, thread_id, part));
    const [first] = results;
    const isRefused = (result: unknown) =>
      result instanceof DomainError && first instanceof DomainError && result.code === first.code;
    if (first instanceof DomainError && results.every(isRefused)) throw first;
    return {
      results: results.map((result) => (result instanceof DomainError ? presentRefusal(result) : result)),
    };
  }),
};
