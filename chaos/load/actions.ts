import { z } from 'zod';
import { type CallOptions, call, callTool, type Outcome } from './call.ts';
import type { ContactRequestAttempt, Send } from '../history.ts';
import type { Agent } from './population.ts';

/*
 * Actions with an idempotency key. Each function is one attempt. The checker compares the answers of the attempts.
 */

/** A word that every message contains, so that a search can find them all. */
export const searchWord = 'driftwood';

const message = z.looseObject({ id: z.string(), thread_id: z.string(), sequence: z.int() });
const openedThread = z.looseObject({ id: z.string(), initial_message_id: z.string() });
const request = z.looseObject({ request_id: z.string() });

export type ActionResult<Answer> = { answer: Answer } | Exclude<Outcome, { answer: unknown }>;

function read<Shape, Answer>(
  outcome: Outcome,
  schema: z.ZodType<Shape>,
  answer: (value: Shape) => Answer,
): ActionResult<Answer> {
  if (!('answer' in outcome)) return outcome;
  const parsed = schema.safeParse(outcome.answer);
  if (!parsed.success) return { refused: `not an answer: ${JSON.stringify(outcome.answer).slice(0, 300)}` };
  return { answer: answer(parsed.data) };
}

/** Sends a message in `thread_id`, or opens a thread with it. */
export async function attemptSend(
  base: string,
  sender: Agent,
  { kind, key, content }: Send,
  where: { thread_id: string } | { participants: string[] },
): Promise<ActionResult<Send['answers'][number]>> {
  if (kind === 'opening') {
    const body = { ...where, initial_message: content };
    const outcome = await call(post(base, sender, key, '/threads', body));
    return read(outcome, openedThread, ({ id, initial_message_id }) => ({
      message_id: initial_message_id,
      thread_id: id,
      sequence: 1,
    }));
  }
  const thread_id = 'thread_id' in where ? where.thread_id : '';
  const outcome =
    kind === 'tool'
      ? await callTool({ base, token: sender.tokens.mcp, key }, 'send_message', { thread_id, content })
      : await call(post(base, sender, key, `/threads/${thread_id}/messages`, { content }));
  return read(outcome, message, ({ id, sequence, thread_id: found }) => ({
    message_id: id,
    thread_id: found,
    sequence,
  }));
}

/** Sends a contact request to another agent. */
export async function attemptContactRequest(
  base: string,
  sender: Agent,
  { key }: ContactRequestAttempt,
  handle: string,
): Promise<ActionResult<ContactRequestAttempt['answers'][number]>> {
  const outcome = await call(post(base, sender, key, '/contacts/requests', { handle }));
  return read(outcome, request, ({ request_id }) => ({ request_id }));
}

/** Marks messages as read. This is idempotent without a key. */
export function attemptReadMark(base: string, agent: Agent, thread_id: string, up_to_sequence: number) {
  return call(post(base, agent, undefined, `/threads/${thread_id}/read`, { up_to_sequence }));
}

function post(
  base: string,
  { tokens }: Agent,
  key: string | undefined,
  path: string,
  body: object,
): CallOptions {
  return { base, token: tokens.api, method: 'POST', path, key, body };
}
