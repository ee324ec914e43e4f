import type { CompleteResult } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionFace } from '../operations/define.ts';
import type { Caller } from './caller.ts';
import type { McpParts } from './parts.ts';
import type { Prompt } from './prompts.ts';
import { RpcError, rpcCodes } from './refusal.ts';
import { type Resources, rpcErrorOf } from './resources.ts';

export interface Incomplete {
  /** A template or a prompt, as their lists show it. */
  ref: { uri?: unknown; name?: unknown };
  argument: string;
}

/** Values of one answer, at most (MCP, Completion). */
const most = 100;

/** What completes an argument of a template or a prompt, if anything does. */
export function completionOf(
  { resources, prompts }: { resources: Resources; prompts: readonly Prompt[] },
  { ref: { uri, name }, argument }: Incomplete,
): CompletionFace | undefined {
  if (typeof uri === 'string') return resources.completion(uri, argument);
  const completes = prompts.find(({ definition }) => definition.name === name)?.completes;
  return completes?.argument === argument ? completes : undefined;
}

/**
 * Completes an argument (MCP, Completion), in the order of the list behind it: what begins like `value` or has it in the words by
 * which people know it.
 * @throws {RpcError} -32602 for an argument that nothing completes; as reading a resource does else.
 */
export async function complete(
  parts: McpParts,
  caller: Caller,
  face: CompletionFace | undefined,
  typed: string,
): Promise<CompleteResult> {
  if (!face) throw new RpcError(rpcCodes.invalidParams, 'There is nothing to complete there.');
  const { operation, input } = face;
  try {
    const { output } = await parts.execute({ operation, actor: caller.actor, input });
    const { values, more } = face.values(output);
    const searched = typed.toLowerCase();
    const found = values.filter(
      ({ value, words }) => value.startsWith(typed) || words.toLowerCase().includes(searched),
    );
    return {
      completion: {
        values: found.slice(0, most).map(({ value }) => value),
        hasMore: more || found.length > most,
      },
    };
  } catch (thrown) {
    throw rpcErrorOf(parts, caller, { operation, thrown });
  }
}
