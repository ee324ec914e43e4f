import { z } from 'zod';
import { DomainError } from '../domain/errors.ts';
import { isId } from '../domain/ids.ts';

const threadId = z.string().refine((value) => isId('thread', value), 'must be a thread identifier, thd_…');

/** What a client may send (contract, section 4). */
const clientFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('subscribe'), thread_id: threadId }),
  z.object({ type: z.literal('unsubscribe'), thread_id: threadId }),
  z.object({ type: z.literal('ack'), cursor: z.string().max(512) }),
]);

export type ClientFrame = z.infer<typeof clientFrame>;

/** @throws {DomainError} INVALID_JSON, VALIDATION_ERROR */
export function parseClientFrame(text: string): ClientFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DomainError('INVALID_JSON', 'The frame is not valid JSON.', { cause: error });
  }
  const parsed = clientFrame.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const known =
    issue?.code === 'invalid_union'
      ? 'type: must be ping, subscribe, unsubscribe or ack'
      : `${issue?.path.join('.') || 'frame'}: ${issue?.message}`;
  throw new DomainError('VALIDATION_ERROR', known);
}
