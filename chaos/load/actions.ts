import { z } from 'zod';
import type { ContactRequestAttempt, Send, SentMessage, Upload, WebhookAttempt } from '../history.ts';
import type { Outcome } from './call.ts';
import type { Callers } from './callers.ts';

/** A word that every message contains, so that a search can find them all. */
export const searchWord = 'driftwood';

const messageFields: ReadonlySet<string> = new Set([
  'id',
  'thread_id',
  'sender',
  'content',
  'content_type',
  'created_at',
  'sequence',
  'attachments',
  'reply_to',
  'metadata',
]);
/** A message in an answer. The tool does not repeat the text, and adds the feed position. */
export const sentMessage = z
  .looseObject({ id: z.string(), thread_id: z.string(), sequence: z.int() })
  .transform((sent): SentMessage => {
    const { id: message_id, thread_id, sequence } = sent;
    const fields = Object.entries(sent).filter(([name]) => messageFields.has(name));
    return { message_id, thread_id, sequence, fields: Object.fromEntries(fields) };
  });
export const sentBatch = z
  .looseObject({ results: z.array(z.looseObject({ status: z.literal(201), message: sentMessage })) })
  .transform(({ results }) => results.map(({ message }) => message));
export const openedThread = z
  .looseObject({ id: z.string(), initial_message_id: z.string() })
  .transform(({ id: thread_id, initial_message_id }): SentMessage => {
    return { message_id: initial_message_id, thread_id, sequence: 1, fields: {} };
  });
export const requestedContact = z
  .looseObject({ request_id: z.string() })
  .transform(({ request_id }): ContactRequestAttempt['answers'][number] => ({ request_id }));
export const uploadedFile = z
  .looseObject({ id: z.string() })
  .transform(({ id: attachment_id }): Upload['answers'][number] => ({ attachment_id }));
export const createdWebhook = z
  .looseObject({ id: z.string(), secret: z.string() })
  .transform(({ id: webhook_id, secret }): WebhookAttempt['answers'][number] => ({ webhook_id, secret }));
/** For a call whose answer is not read. */
export const anyAnswer = z.unknown().transform(() => null);

export type ActionResult<Answer> = { answer: Answer } | Exclude<Outcome, { answer: unknown }>;

/** Parses an answer. One of another shape is a permanent error. */
export function readAnswer<Answer>(outcome: Outcome, schema: z.ZodType<Answer>): ActionResult<Answer> {
  if (!('answer' in outcome)) return outcome;
  const parsed = schema.safeParse(outcome.answer);
  if (!parsed.success) return { refused: `not an answer: ${JSON.stringify(outcome.answer).slice(0, 300)}` };
  return { answer: parsed.data };
}

/** Sends a message in a thread. */
export async function attemptSend(
  callers: Callers,
  { kind, key, draft }: Send,
  thread_id: string,
): Promise<ActionResult<SentMessage>> {
  const caller = kind === 'tool' || kind === 'call' ? callers[kind] : callers.REST;
  return readAnswer(await caller('send_message', { thread_id, ...draft }, { key }), sentMessage);
}
