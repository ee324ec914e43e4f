import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Exchange } from '../../../src/transports/mcp/protocol/exchange.ts';
import type { Tool } from '../../../src/transports/mcp/tools/tools.ts';
import { defineInteractiveFixture, textContent } from './define-fixture.ts';
import { choicesForm, allDefaultsForm, userDetailsForm } from './forms.ts';

/** The suite wants its notifications this far apart, in ms. */
const stepDelayMs = 50;
const timeout_ms = 20_000;

/** The tools of the suite that say or ask something before they answer. */
export const interactiveTools: readonly Tool[] = [
  defineInteractiveFixture(
    { name: 'test_tool_with_logging', description: 'Sends three messages to the log.' },
    async ({ log }) => {
      log?.('info', 'test', { words: 'Tool execution started' });
      await pause(stepDelayMs);
      log?.('info', 'test', { words: 'Tool processing data' });
      await pause(stepDelayMs);
      log?.('info', 'test', { words: 'Tool execution completed' });
      return [textContent('Three messages were sent.')];
    },
  ),
  defineInteractiveFixture(
    { name: 'test_tool_with_progress', description: 'Reports its progress three times.' },
    async ({ progress }) => {
      progress?.(0, 100);
      await pause(stepDelayMs);
      progress?.(50, 100);
      await pause(stepDelayMs);
      progress?.(100, 100);
      return [textContent('All is done.')];
    },
  ),
  defineInteractiveFixture(
    {
      name: 'test_sampling',
      description: 'Has the model of the client answer.',
      properties: { prompt: { type: 'string', description: 'What the model is asked.' } },
    },
    async (exchange, { prompt }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: String(prompt) } }];
      const result = await requestFromClient(exchange, 'sampling/createMessage', {
        messages,
        maxTokens: 100,
      });
      const { content } = samplingResult.parse(result);
      return [textContent(`LLM response: ${content.text}`)];
    },
  ),
  defineInteractiveFixture(
    {
      name: 'test_elicitation',
      description: 'Asks the person behind the client.',
      properties: { message: { type: 'string', description: 'What the person is asked.' } },
    },
    (exchange, { message }) => elicit(exchange, String(message), userDetailsForm, 'User response'),
  ),
  defineInteractiveFixture(
    { name: 'test_elicitation_sep1034_defaults', description: 'Asks by a form that is filled in already.' },
    (exchange) => elicit(exchange, 'Is this right?', allDefaultsForm, 'Elicitation completed'),
  ),
  defineInteractiveFixture(
    { name: 'test_elicitation_sep1330_enums', description: 'Asks by a form of choices.' },
    (exchange) => elicit(exchange, 'Which of these?', choicesForm, 'Elicitation completed'),
  ),
];

const samplingResult = z.looseObject({ content: z.looseObject({ text: z.string() }) });
const elicitationResult = z.looseObject({ action: z.string(), content: z.unknown().optional() });

async function elicit(exchange: Exchange, message: string, requestedSchema: object, words: string) {
  const result = await requestFromClient(exchange, 'elicitation/create', { message, requestedSchema });
  const { action, content } = elicitationResult.parse(result);
  return [textContent(`${words}: action=${action}, content=${JSON.stringify(content)}`)];
}

async function requestFromClient(
  exchange: Exchange,
  method: string,
  params: Record<string, unknown>,
): Promise<unknown> {
  const { signal } = exchange;
  const answer = await exchange.ask?.({ key: method, method, params, timeout_ms, signal });
  if (answer?.result) return answer.result;
  throw new DomainError('VALIDATION_ERROR', `The client did not answer ${method}.`);
}
