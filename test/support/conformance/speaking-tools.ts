import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Exchange } from '../../../src/mcp/exchange.ts';
import type { Tool } from '../../../src/mcp/tools.ts';
import { speakingFixture, text } from './fixture.ts';
import { choices, everyDefault, userDetails } from './forms.ts';

/** The suite wants its notifications this far apart, in ms. */
const apart = 50;
const patience_ms = 20_000;

/** The tools of the suite that say or ask something before they answer. */
export const speakingTools: readonly Tool[] = [
  speakingFixture(
    { name: 'test_tool_with_logging', description: 'Sends three messages to the log.' },
    async ({ log }) => {
      log?.('info', 'test', { words: 'Tool execution started' });
      await pause(apart);
      log?.('info', 'test', { words: 'Tool processing data' });
      await pause(apart);
      log?.('info', 'test', { words: 'Tool execution completed' });
      return [text('Three messages were sent.')];
    },
  ),
  speakingFixture(
    { name: 'test_tool_with_progress', description: 'Reports its progress three times.' },
    async ({ progress }) => {
      progress?.(0, 100);
      await pause(apart);
      progress?.(50, 100);
      await pause(apart);
      progress?.(100, 100);
      return [text('All is done.')];
    },
  ),
  speakingFixture(
    {
      name: 'test_sampling',
      description: 'Has the model of the client answer.',
      properties: { prompt: { type: 'string', description: 'What the model is asked.' } },
    },
    async (exchange, { prompt }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: String(prompt) } }];
      const result = await ask(exchange, 'sampling/createMessage', { messages, maxTokens: 100 });
      const { content } = sampled.parse(result);
      return [text(`LLM response: ${content.text}`)];
    },
  ),
  speakingFixture(
    {
      name: 'test_elicitation',
      description: 'Asks the person behind the client.',
      properties: { message: { type: 'string', description: 'What the person is asked.' } },
    },
    (exchange, { message }) => elicit(exchange, String(message), userDetails, 'User response'),
  ),
  speakingFixture(
    { name: 'test_elicitation_sep1034_defaults', description: 'Asks by a form that is filled in already.' },
    (exchange) => elicit(exchange, 'Is this right?', everyDefault, 'Elicitation completed'),
  ),
  speakingFixture(
    { name: 'test_elicitation_sep1330_enums', description: 'Asks by a form of choices.' },
    (exchange) => elicit(exchange, 'Which of these?', choices, 'Elicitation completed'),
  ),
];

const sampled = z.looseObject({ content: z.looseObject({ text: z.string() }) });
const elicited = z.looseObject({ action: z.string(), content: z.unknown().optional() });

async function elicit(exchange: Exchange, message: string, requestedSchema: object, words: string) {
  const result = await ask(exchange, 'elicitation/create', { message, requestedSchema });
  const { action, content } = elicited.parse(result);
  return [text(`${words}: action=${action}, content=${JSON.stringify(content)}`)];
}

async function ask(exchange: Exchange, method: string, params: Record<string, unknown>): Promise<unknown> {
  const { signal } = exchange;
  const answer = await exchange.ask?.({ method, params, timeout_ms: patience_ms, signal });
  if (answer?.result) return answer.result;
  throw new DomainError('VALIDATION_ERROR', `The client did not answer ${method}.`);
}
