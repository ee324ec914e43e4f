import type { CompleteResult } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionSource } from '../../../operations/define.ts';
import type { Caller } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import type { Prompt } from './prompts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { type Resources, toRpcError } from '../resources/resources.ts';

export interface CompletionRequest {
  /** A resource template or a prompt. */
  ref: { uri?: unknown; name?: unknown };
  argument: string;
}

/** Maximum values per response (MCP, Completion). */
const maxCompletionValues = 100;

/** The completion source of a template or prompt argument, if it has one. */
export function findCompletion(
  { resources, prompts }: { resources: Resources; prompts: readonly Prompt[] },
  { ref: { uri, name }, argument }: CompletionRequest,
): CompletionSource | undefined {
  if (typeof uri === 'string') return resources.completion(uri, argument);
  const completion = prompts.find(({ definition }) => definition.name === name)?.completion;
  return completion?.argument === argument ? completion : undefined;
}

/**
 * Completes an argument (MCP, Completion) with values that start with `typed` or whose label contains it, in the order of the
 * source.
 * @throws {RpcError} -32602 for an argument without completion; otherwise as `readResource`.
 */
export async function completeArgument(
  parts: McpParts,
  caller: Caller,
  source: CompletionSource | undefined,
  typed: string,
): Promise<CompleteResult> {
  if (!source) throw new RpcError(rpcCodes.invalidParams, 'This argument has no completion.');
  const { operation, input } = source;
  try {
    const { output } = await parts.execute({ operation, actor: caller.actor, input });
    const { values, hasMore } = source.values(output);
    const search = typed.toLowerCase();
    const found = values.filter(
      ({ value, label }) => value.startsWith(typed) || label.toLowerCase().includes(search),
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
