import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ClientQuestion } from '../../../src/transports/mcp/approvals/client-requests.ts';
import type { Prompt } from '../../../src/transports/mcp/prompts/prompts.ts';
import type { Exchange } from '../../../src/transports/mcp/protocol/exchange.ts';
import type { Tool } from '../../../src/transports/mcp/tools/tools.ts';
import { defineInteractiveFixture, textContent } from './define-fixture.ts';

type Question = Pick<ClientQuestion, 'key' | 'method' | 'params' | 'isUnsealed'>;
type Asking = Pick<Exchange, 'ask' | 'signal'>;

const timeout_ms = 20_000;

/** The tools of the suite that ask by a result and continue when the call is repeated. */
export const multiRoundTools: readonly Tool[] = [
  asking('test_input_required_result_elicitation', [
    { ...form('user_name', 'What is your name?', 'name'), isUnsealed: true },
  ]),
  asking('test_input_required_result_sampling', [
    sampling('capital_question', 'What is the capital of France?'),
  ]),
  asking('test_input_required_result_list_roots', [roots()]),
  asking('test_input_required_result_request_state', [confirmation()], 'state-ok'),
  asking('test_input_required_result_multiple_inputs', [
    form('user_name', 'What is your name?', 'name'),
    sampling('greeting', 'Generate a greeting'),
    roots(),
  ]),
  asking('test_input_required_result_tampered_state', [confirmation()]),
  asking('test_input_required_result_capabilities', [sampling('greeting', 'Generate a greeting')]),
  asking('test_missing_capability', [sampling('greeting', 'Generate a greeting')]),
  asking('test_streaming_elicitation', [form('user_name', 'What is your name?', 'name')]),
  defineInteractiveFixture(
    { name: 'test_input_required_result_multi_round', description: 'Asks twice, one after the other.' },
    async (exchange) => {
      await answersTo(exchange, [form('step1', 'Step 1: What is your name?', 'name')]);
      await answersTo(exchange, [form('step2', 'Step 2: What is your favorite color?', 'color')]);
      return [textContent('Both steps are done.')];
    },
  ),
  defineInteractiveFixture(
    { name: 'test_logging_tool', description: 'Sends a message to the log.' },
    async ({ log }) => {
      log?.('info', 'test', { words: 'Tool execution started' });
      return [textContent('A message was logged, if the client wants any.')];
    },
  ),
];

/** The prompt of the suite that asks before it answers. */
export const multiRoundPrompt: Prompt = {
  definition: { name: 'test_input_required_result_prompt', description: 'Asks for the context.' },
  async messages(_args, exchange) {
    await answersTo(exchange, [form('user_context', 'What context should the prompt use?', 'context')]);
    return [{ role: 'user', content: { type: 'text', text: 'This is the prompt with its context.' } }];
  },
};

function asking(name: string, questions: readonly Question[], words = 'All questions are answered.'): Tool {
  return defineInteractiveFixture(
    { name, description: 'Asks the client by its result.' },
    async (exchange) => {
      await answersTo(exchange, questions);
      return [textContent(words)];
    },
  );
}

/** Fails as long as an answer is missing, as an operation does that needs one. */
export async function answersTo({ ask, signal }: Asking, questions: readonly Question[]) {
  const answers = await Promise.all(
    questions.map(async (question) => ask?.({ ...question, timeout_ms, signal })),
  );
  if (answers.some((answer) => answer?.result === undefined))
    throw new DomainError('VALIDATION_ERROR', 'The client did not answer.');
  return answers.map((answer) => answer?.result);
}

export function form(key: string, message: string, field: string, type = 'string'): Question {
  const requestedSchema = { type: 'object', properties: { [field]: { type } }, required: [field] };
  return { key, method: 'elicitation/create', params: { message, requestedSchema } };
}

function confirmation(): Question {
  return form('confirm', 'Please confirm', 'ok', 'boolean');
}

function sampling(key: string, text: string): Question {
  const messages = [{ role: 'user', content: { type: 'text', text } }];
  return { key, method: 'sampling/createMessage', params: { messages, maxTokens: 100 } };
}

function roots(): Question {
  return { key: 'client_roots', method: 'roots/list', params: {} };
}
