import { z } from 'zod';
import { type Caller, type CallOptions, call, type Outcome } from './call.ts';
import type { Callers } from './callers.ts';
import type {
  ContactRequestAttempt,
  MemberChange,
  ReadMark,
  Send,
  SentMessage,
  Upload,
  WebhookAttempt,
} from '../history.ts';
import type { Agent } from './population.ts';

/*
 * Each function is one attempt at an action, with its idempotency key if the operation accepts one. The checker compares the answers
 * of the attempts.
 */

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
const sentBatch = z.looseObject({
  results: z.array(z.looseObject({ status: z.literal(201), message: sentMessage })),
});
const openedThread = z.looseObject({ id: z.string(), initial_message_id: z.string() });
const request = z.looseObject({ request_id: z.string() });
const attachment = z.looseObject({ id: z.string() });
const webhook = z.looseObject({ id: z.string(), secret: z.string() });

export type ActionResult<Answer> = { answer: Answer } | Exclude<Outcome, { answer: unknown }>;

/** Parses an answer. One of another shape is a permanent error. */
export function readAnswer<Shape, Answer>(
  outcome: Outcome,
  schema: z.ZodType<Shape>,
  answer: (value: Shape) => Answer,
): ActionResult<Answer> {
  if (!('answer' in outcome)) return outcome;
  const parsed = schema.safeParse(outcome.answer);
  if (!parsed.success) return { refused: `not an answer: ${JSON.stringify(outcome.answer).slice(0, 300)}` };
  return { answer: answer(parsed.data) };
}

/** Sends a message in a thread. */
export async function attemptSend(
  callers: Callers,
  { kind, key, draft }: Send,
  thread_id: string,
): Promise<ActionResult<SentMessage>> {
  const caller = kind === 'tool' || kind === 'call' ? callers[kind] : callers.REST;
  return readAnswer(
    await caller('send_message', { thread_id, ...draft }, { key }),
    sentMessage,
    (sent) => sent,
  );
}

/** Sends several messages of one thread in one request. Each has a key of its own, too. */
export async function attemptBatch(
  caller: Caller,
  key: string,
  sends: readonly Send[],
  thread_id: string,
): Promise<ActionResult<SentMessage[]>> {
  const messages = sends.map(({ key: idempotency_key, draft }) => ({ ...draft, idempotency_key }));
  return readAnswer(
    await caller('send_messages', { thread_id, messages }, { key }),
    sentBatch,
    ({ results }) => results.map(({ message }) => message),
  );
}

/** Opens a thread with a message. */
export async function attemptOpening(
  base: string,
  sender: Agent,
  { key, draft }: Send,
  participants: readonly string[],
): Promise<ActionResult<SentMessage>> {
  const body = { participants, initial_message: draft.content };
  const outcome = await call(post(base, sender, key, '/threads', body));
  return readAnswer(outcome, openedThread, ({ id, initial_message_id }) => ({
    message_id: initial_message_id,
    thread_id: id,
    sequence: 1,
    fields: {},
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
  return readAnswer(outcome, request, ({ request_id }) => ({ request_id }));
}

/** Marks messages as read. This is idempotent without a key. */
export async function attemptReadMark(
  callers: Callers,
  { kind, thread_id, up_to_sequence }: ReadMark,
): Promise<ActionResult<null>> {
  const outcome = await callers[kind]('mark_read', { thread_id, up_to_sequence });
  return 'answer' in outcome ? { answer: null } : outcome;
}

/** Adds or removes a member of a thread. A repeated removal finds no such member, or no such thread if the agent left. */
export async function attemptMemberChange(
  base: string,
  agent: Agent,
  { kind, key, thread_id, attempts }: MemberChange,
  member: Agent,
): Promise<ActionResult<null>> {
  const path = `/threads/${thread_id}/members`;
  const token = agent.tokens.api;
  const outcome =
    kind === 'added'
      ? await call(post(base, agent, key, path, { handle: member.handle }))
      : await call({ base, token, method: 'DELETE', path: `${path}/${member.id}` });
  const isRemoved =
    kind === 'removed' && attempts > 1 && 'refused' in outcome && outcome.refused.startsWith('404 ');
  return 'answer' in outcome || isRemoved ? { answer: null } : outcome;
}

/** Uploads a file. */
export async function attemptUpload(
  base: string,
  agent: Agent,
  { key, file }: Upload,
  content: string,
): Promise<ActionResult<Upload['answers'][number]>> {
  const form = new FormData();
  form.append('file', new Blob([content], { type: file.content_type }), file.filename);
  const outcome = await call(post(base, agent, key, '/attachments', form));
  return readAnswer(outcome, attachment, ({ id }) => ({ attachment_id: id }));
}

/** Creates a webhook for all events. */
export async function attemptWebhook(
  base: string,
  agent: Agent,
  { key }: WebhookAttempt,
  url: string,
): Promise<ActionResult<WebhookAttempt['answers'][number]>> {
  const outcome = await call(post(base, agent, key, '/webhooks', { url }));
  return readAnswer(outcome, webhook, ({ id, secret }) => ({ webhook_id: id, secret }));
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
