import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCResponse,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isTransient, isUnsent } from './errors.ts';

export interface RetryPolicy {
  /** Notes which tools only read, from an answer on its way to the client. */
  learnTools(request: JSONRPCMessage, answer: JSONRPCResponse): void;
  /** Whether a message that failed so may be sent again without anything happening twice. */
  allowsRetry(message: JSONRPCMessage, error: unknown): boolean;
}

/** What may be repeated: what has not left; what only reads; and what the service itself keeps from happening twice. */
export function createRetryPolicy(): RetryPolicy {
  const harmless = new Set<string>();

  function isHarmless(message: JSONRPCMessage): boolean {
    if (!isJSONRPCRequest(message) || message.method !== 'tools/call') return true;
    const { name, arguments: given } = message.params ?? {};
    if (typeof name === 'string' && harmless.has(name)) return true;
    const key: unknown =
      typeof given === 'object' && given !== null ? Reflect.get(given, 'idempotency_key') : undefined;
    return typeof key === 'string';
  }

  return {
    learnTools(request, answer) {
      if (!('method' in request) || request.method !== 'tools/list' || !('result' in answer)) return;
      const { data } = ListToolsResultSchema.safeParse(answer.result);
      for (const { name, annotations } of data?.tools ?? []) {
        if (annotations?.readOnlyHint) harmless.add(name);
        else harmless.delete(name);
      }
    },
    allowsRetry: (message, error) => isTransient(error) && (isUnsent(error) || isHarmless(message)),
  };
}
