import type { CompleteResult } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionSource } from '../../../operations/define.ts';
import type { Caller } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import type { Prompt } from './prompts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { type Resources, toRpcError } from '../resources/resources.ts';

export interface CompletionRequest {
  /** A template or a prompt, as their lists show it. */
  ref: { uri?: unknown; name?: unknown };
  argument: string;
}

/** Values of one answer, at most (MCP, Completion). */
const maxCompletionValues = 100;

/** What completes an argument of a template or a prompt, if anything does. */
export function findCompletion(
  { resources, prompts }: { resources: Resources; prompts: readonly Prompt[] },
  { ref: { uri, name }, argument }: CompletionRequest,
): CompletionSource | undefined {
  if (typeof uri === 'string') return resources.completion(uri, argument);
  const completes = prompts.find(({ definition }) => definition.name === name)?.completes;
  return completes?.argument === argument ? completes : undefined;
}

/**
 * Completes an argument (MCP, Completion), in the order of the list behind it: what begins like `value` or has it in the words by
 * which people know it.
 * @throws {RpcError} -32602 for an argument that nothing completes; as reading a resource does else.
 */
export async function completeArgument(
  parts: McpParts,
  caller: Caller,
  face: CompletionSource | undefined,
  typed: string,
): Promise<CompleteResult> {
  if (!face) throw new RpcError(rpcCodes.invalidParams, 'There is nothing to complete there.');
  const { operation, input } = face;
  try {
    const { output } = await parts.execute({ operation, actor: caller.actor, input });
    const { values, hasMore } = face.values(output);
    const searched = typed.toLowerCase();
    const found = values.filter(
      ({ value, label }) => value.startsWith(typed) || label.toLowerCase().includes(searched),
    );
    return {
      completion: {
        values: found.slice(0, maxCompletionValues).map(({ value }) => value),
        hasMore: hasMore || found.length > maxCompletionValues,
      },
    };
  } catch (thrown) {
    throw toRpcError(parts, caller, { operation, thrown });
  }
}
