import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';

const threadId = z
  .string()
  .refine((value) => isId('thread', value), 'must be a thread identifier, thd_…')
  .meta({ pattern: '^thd_' })
  .describe('Thread identifier, thd_…');

const kind = <Type extends string>(type: Type) => z.literal(type).describe('What you want.');

/** What a client may send (contract, section 4). */
export const clientFrames = {
  ping: z
    .object({ type: kind('ping') })
    .meta({ id: 'PingFrame', description: 'Asks whether the service is there.' }),
  subscribe: z.object({ type: kind('subscribe'), thread_id: threadId }).meta({
    id: 'SubscribeFrame',
    description: 'Narrows the connection to the threads that it names, one by one.',
  }),
  unsubscribe: z
    .object({ type: kind('unsubscribe'), thread_id: threadId })
    .meta({ id: 'UnsubscribeFrame', description: 'Undoes subscribe; without any the connection is whole.' }),
  ack: z
    .object({
      type: kind('ack'),
      cursor: z.string().max(512).describe('The cursor of the last event that you are done with.'),
    })
    .meta({
      id: 'AckFrame',
      description: 'Keeps a position of the agent for good: where every door starts that is given no cursor.',
    }),
} as const;

const { ping, subscribe, unsubscribe, ack } = clientFrames;
const clientFrame = z.discriminatedUnion('type', [ping, subscribe, unsubscribe, ack]);

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
