import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCResponse,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isTransient, isUnsent } from './errors.ts';

export interface RetryPolicy {
  /** Learns from a tools/list response which tools are read-only. */
  learnTools(request: JSONRPCMessage, answer: JSONRPCResponse): void;
  /** Whether a failed message can be sent again without a second effect. */
  allowsRetry(message: JSONRPCMessage, error: unknown): boolean;
}

/** Retries are safe for requests that were not sent, read-only tools, and calls with an idempotency key. */
export function createRetryPolicy(): RetryPolicy {
  const readOnlyTools = new Set<string>();

  function isIdempotent(message: JSONRPCMessage): boolean {
    if (!isJSONRPCRequest(message) || message.method !== 'tools/call') return true;
    const { name, arguments: args } = message.params ?? {};
    if (typeof name === 'string' && readOnlyTools.has(name)) return true;
    const key: unknown =
      typeof args === 'object' && args !== null ? Reflect.get(args, 'idempotency_key') : undefined;
    return typeof key === 'string';
  }

  return {
    learnTools(request, answer) {
      if (!('method' in request) || request.method !== 'tools/list' || !('result' in answer)) return;
      const { data } = ListToolsResultSchema.safeParse(answer.result);
      for (const { name, annotations } of data?.tools ?? []) {
        if (annotations?.readOnlyHint) readOnlyTools.add(name);
        else readOnlyTools.delete(name);
      }
    },
    allowsRetry: (message, error) => isTransient(error) && (isUnsent(error) || isIdempotent(message)),
  };
}
