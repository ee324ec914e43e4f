import { inputResponse } from '@modelcontextprotocol/server';
import type { Result } from '@modelcontextprotocol/sdk/types.js';
import { type ClientResponse, shortenResponse } from '../approvals/client-response.ts';
import type { ClientQuestion } from '../approvals/client-requests.ts';
import { missingCapability } from '../protocol/errors.ts';
import { readField } from '../protocol/required-scopes.ts';
import type { RequestState, RequestStates } from './request-state.ts';

/** One round of a call that may ask its client (MCP, Multi Round-Trip Requests). */
export interface InputRound {
  /** The response that the client has sent with this call; undefined if it must be asked first. */
  ask(question: ClientQuestion): Promise<ClientResponse | undefined>;
  /** The keys of the questions with a response. */
  answered: readonly string[];
  /** Whether a question was asked that has no response yet. */
  isOpen(): boolean;
  /** The result that asks the client. @throws {RpcError} -32021 if the client has not declared that it can be asked */
  toResult(): Result;
}

export interface RoundInput {
  states: RequestStates;
  /** The state that the client has returned, if any. */
  state: RequestState | undefined;
  /** Responses of the client, by key; unchecked. */
  responses: unknown;
  /** What the client declares that it can do; unchecked. */
  capabilities: unknown;
}

/** A response counts if the sealed state says that its question was asked in the last round. */
export function createInputRound({ states, state, responses, capabilities }: RoundInput): InputRound {
  const open = new Map<string, Pick<ClientQuestion, 'method' | 'params'>>();
  const answered: RequestState['answered'] = { ...state?.answered };
  for (const key of state?.asked ?? []) {
    const response = responseOf(responses, key);
    if (response) answered[key] = response;
  }

  return {
    async ask({ key, method, params, isUnsealed = false }) {
      const known = Object.hasOwn(answered, key) ? answered[key] : undefined;
      const result = known ?? (isUnsealed ? responseOf(responses, key) : undefined);
      if (result) return { result };
      open.set(key, { method, params });
      return undefined;
    },
    answered: Object.keys(answered),
    isOpen: () => open.size > 0,
    toResult() {
      for (const { method } of open.values()) requireCapability(capabilities, method);
      return {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(open),
        requestState: states.seal({ asked: [...open.keys()], answered }),
      };
    },
  };
}

/** The capability has the name of the first part of the method: `elicitation/create` needs `elicitation`. */
function requireCapability(capabilities: unknown, method: string): void {
  const [name = ''] = method.split('/');
  if (readField(capabilities, name) === undefined) throw missingCapability({ [name]: {} });
}

function responseOf(responses: unknown, key: string): Record<string, unknown> | undefined {
  const response = readField(responses, key);
  if (inputResponse(Object(responses), key).kind === 'missing') return undefined;
  return shortenResponse({ result: { ...Object(response) } }).result;
}
