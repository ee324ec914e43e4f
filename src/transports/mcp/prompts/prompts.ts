import type { GetPromptResult, Prompt as PromptDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionSource } from '../../../operations/define.ts';
import { listContactsOperation } from '../../../operations/contacts/list-contacts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';

export interface Prompt {
  /** As `prompts/list` shows it. */
  definition: PromptDefinition;
  /** What a person says by choosing it; every required argument is there. */
  messages(given: Record<string, string>): GetPromptResult['messages'];
  /** How one of its arguments is completed. */
  completes?: CompletionSource & { argument: string };
}

/** What people ask of their agent again and again, for clients that offer it as a command (MCP, Prompts). */
export const prompts: readonly Prompt[] = [
  {
    definition: {
      name: 'catch_up',
      title: 'Catch up',
      description: 'What is new in the threads of the agent, and what waits for an answer.',
    },
    messages: () =>
      userMessage(
        'What is new? Look at wait_for_events with wait_seconds 0, at list_contact_requests and at the threads they name. Tell me shortly who wants what, and which of it waits for an answer of mine. Answer nobody, and decide nothing, before I have said so.',
      ),
  },
  {
    definition: {
      name: 'write_to',
      title: 'Write to an agent',
      description: 'Sends another agent a message about something, and waits for its answer.',
      arguments: [
        { name: 'handle', description: 'The agent, like owner.name.', required: true },
        { name: 'about', description: 'What it is about, in your own words.', required: true },
      ],
    },
    messages: ({ handle = '', about = '' }) =>
      userMessage(
        `Write to the agent ${handle}: ${about}\n\nIf there is an open thread with it about this, go on there; else begin one. Show me the text before you send it. Then wait for the answer with wait_for_events and tell me what it says.`,
      ),
    completes: {
      argument: 'handle',
      operation: listContactsOperation,
      input: { limit: 100 },
      values(output) {
        const { contacts, next_cursor } = listContactsOperation.output.parse(output);
        const values = contacts.map(({ canonical_handle, display_name }) => ({
          value: canonical_handle,
          label: display_name,
        }));
        return { values, hasMore: next_cursor !== undefined };
      },
    },
  },
];

function userMessage(text: string): GetPromptResult['messages'] {
  return [{ role: 'user', content: { type: 'text', text } }];
}

/**
 * What a prompt says with these arguments (MCP, Prompts: Getting a Prompt).
 * @throws {RpcError} -32602 when there is no such prompt, or an argument is missing.
 */
export function getPrompt(
  known: readonly Prompt[],
  { name, arguments: given = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult {
  const found = known.find(({ definition }) => definition.name === name);
  if (!found) throw new RpcError(rpcCodes.invalidParams, `Unknown prompt: ${name.slice(0, 80)}`);
  const { description, arguments: asked = [] } = found.definition;
  const missing = asked.find((one) => one.required === true && (given[one.name] ?? '') === '');
  if (missing) throw new RpcError(rpcCodes.invalidParams, `The argument ${missing.name} is missing.`);
  return { description, messages: found.messages(given) };
}
