import { z } from 'zod';

/** The input field of a tool whose results have a short form. The transport sets it for clients that expect every field. */
export const detail = z
  .enum(['short', 'full'])
  .default('short')
  .describe('short: who, when and first words. full: every field.');

/** The field of a short result that says which calls return more. */
export const readTheRest = z.string().optional().describe('The calls that return more than the short form.');

/** Names the call that returns every field, with arguments that it needs, and the one that returns the first message or thread whole. */
export function describeMore(
  tool: string,
  first: { thread_id: string; sequence?: number | undefined } | undefined,
  args: object = {},
): { read_the_rest: string } {
  const all = `${tool} with ${JSON.stringify({ ...args, detail: 'full' })} returns every field`;
  if (!first) return { read_the_rest: `${all}.` };
  const { thread_id, sequence } = first;
  const whole = sequence === undefined ? {} : { message_limit: 1, before_sequence: sequence + 1 };
  const what = sequence === undefined ? 'the messages of the first thread' : 'the first message whole';
  return { read_the_rest: `${all}; get_thread with ${JSON.stringify({ thread_id, ...whole })} ${what}.` };
}
