import type { CompleteResult } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from './caller.ts';
import type { McpParts } from './parts.ts';
import { RpcError, rpcCodes } from './refusal.ts';
import { type Resources, rpcErrorOf } from './resources.ts';

export interface Incomplete {
  /** The template, as `resources/templates/list` shows it. */
  uri: string;
  argument: { name: string; value: string };
}

/** Values of one answer, at most (MCP, Completion). */
const most = 100;

/**
 * Completes the argument of a template (MCP, Completion): newest first, what begins like `value` or has it in the words by which
 * people know it.
 * @throws {RpcError} -32602 for an argument that does not exist; as reading a resource does else.
 */
export async function complete(
  parts: McpParts,
  caller: Caller,
  resources: Resources,
  { uri, argument }: Incomplete,
): Promise<CompleteResult> {
  const face = resources.completion(uri, argument.name);
  if (!face) throw new RpcError(rpcCodes.invalidParams, 'There is nothing to complete there.');
  const { operation, input } = face;
  try {
    const { output } = await parts.execute({ operation, actor: caller.actor, input });
    const { values, more } = face.values(output);
    const searched = argument.value.toLowerCase();
    const found = values.filter(
      ({ value, words }) => value.startsWith(argument.value) || words.toLowerCase().includes(searched),
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
