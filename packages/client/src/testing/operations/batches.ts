import contract from '../contract.json' with { type: 'json' };
import { runOnce } from './idempotency.ts';
import { type Draft, messageHandlers, requireContent } from './messages.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';

interface Part extends Draft {
  idempotency_key?: string;
}

interface Sent {
  status: 201;
  replayed?: true;
  message: object;
}

const { method, path } = contract.operations.send_message;

/** Sends one message, as a single call with the same key does. */
async function sendPart(call: Call, thread_id: string, part: Part): Promise<Sent | ServiceError> {
  const { idempotency_key: key, ...fields } = part;
  const input = { thread_id, ...fields };
  const send = async () => structuredClone(messageHandlers.send_message(call, input));
  try {
    if (key === undefined) return { status: 201, message: await send() };
    const { output, isReplayed } = await runOnce(call, { method, path, key, input }, send);
    return { status: 201, ...(isReplayed && { replayed: true }), message: output };
  } catch (thrown) {
    if (thrown instanceof ServiceError) return thrown;
    throw thrown;
  }
}

function presentRefusal({ status, code, message, options: { details } }: ServiceError): object {
  return { status, error: { code, message, ...(details && { details }) } };
}

export const batchHandlers = {
  async send_messages(call: Call, { thread_id, messages }: { thread_id: string; messages: Part[] }) {
    const keys = messages.flatMap(({ idempotency_key: key }) => key ?? []);
    if (new Set(keys).size < keys.length)
      throw wrongField('messages', 'must not use an idempotency_key twice');
    messages.forEach((part, index) => requireContent(part, `messages.${index}.`));
    const results: (Sent | ServiceError)[] = [];
    for (const part of messages) results.push(await sendPart(call, thread_id, part));
    const [first] = results;
    const isRefused = (result: unknown) =>
      result instanceof ServiceError && first instanceof ServiceError && result.code === first.code;
    if (first instanceof ServiceError && results.every(isRefused)) throw first;
    return {
      results: results.map((result) => (result instanceof ServiceError ? presentRefusal(result) : result)),
    };
  },
} satisfies Record<string, Handler>;
