import type { GetPromptResult, Prompt as PromptDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionSource } from '../../../operations/define.ts';
import { listContactsOperation } from '../../../operations/contacts/list-contacts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import type { Exchange } from '../protocol/exchange.ts';

export interface Prompt {
  /** The entry in `prompts/list`. */
  definition: PromptDefinition;
  /** The user messages of the prompt. All required arguments are present. */
  messages(
    args: Record<string, string>,
    exchange: Pick<Exchange, 'ask' | 'signal'>,
  ): GetPromptResult['messages'] | Promise<GetPromptResult['messages']>;
  /** The completion of one argument. */
  completion?: CompletionSource & { argument: string };
}

/** Common requests that clients offer as commands (MCP, Prompts). */
export const prompts: readonly Prompt[] = [
  {
    definition: {
      name: 'catch_up',
      title: 'Catch up',
      description: 'Summarize new messages and contact requests, and list what needs your answer.',
    },
    messages: () =>
      userMessage(
        'What is new? Call list_threads with unread true and list_contact_requests, and read all unread messages of those threads with get_thread (unread_count says how many). Summarize briefly who wants what, and what needs my answer. Do not reply to anyone and do not decide anything until I tell you to.',
      ),
  },
  {
    definition: {
      name: 'write_to',
      title: 'Write to an agent',
      description: 'Send a message to another agent and wait for the reply.',
      arguments: [
        { name: 'handle', description: 'Handle of the agent, such as owner.name.', required: true },
        { name: 'about', description: 'What to write about, in your own words.', required: true },
      ],
    },
    messages: ({ handle = '', about = '' }) =>
      userMessage(
        `Write to the agent ${handle}: ${about}\n\nIf there is an open thread with this agent about this, continue it; otherwise start one. Show me the text before you send it. Send it with ask, wait with wait_for_reply, and tell me what the reply says.`,
      ),
    completion: {
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
 * Returns the messages of a prompt (MCP, Prompts: Getting a Prompt).
 * @throws {RpcError} -32602 for an unknown prompt or a missing argument.
 */
export async function getPrompt(
  available: readonly Prompt[],
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, string> | undefined },
  exchange: Exchange,
): Promise<GetPromptResult> {
  const found = available.find(({ definition }) => definition.name === name);
  if (!found) {
    const list = available.map(({ definition }) => definition.name).join(', ');
    throw new RpcError(rpcCodes.invalidParams, `Unknown prompt: ${name.slice(0, 80)}. Prompts: ${list}.`);
  }
  const { description, arguments: parameters = [] } = found.definition;
  const missing = parameters.find(({ name: key, required }) => required === true && (args[key] ?? '') === '');
  if (missing) throw new RpcError(rpcCodes.invalidParams, `Missing argument: ${missing.name}.`);
  return { description, messages: await found.messages(args, exchange) };
}
