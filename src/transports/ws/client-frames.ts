import { z } from 'zod';
import { parseInput } from '../../operations/execute/parse-input.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';

const threadId = z
  .string()
  .refine((value) => isId('thread', value), 'must be a thread identifier, thd_…')
  .meta({ pattern: '^thd_' })
  .describe('Thread identifier, thd_…');

const kind = <Type extends string>(type: Type) => z.literal(type).describe('Frame type.');

/** The frames that a client may send. */
export const clientFrames = {
  ping: z
    .object({ type: kind('ping') })
    .meta({ id: 'PingFrame', description: 'Checks the connection. The server answers with `pong`.' }),
  subscribe: z.object({ type: kind('subscribe'), thread_id: threadId }).meta({
    id: 'SubscribeFrame',
    description:
      'Limits the connection to the events of this thread and of other subscribed threads. Events without a thread are always sent.',
  }),
  unsubscribe: z.object({ type: kind('unsubscribe'), thread_id: threadId }).meta({
    id: 'UnsubscribeFrame',
    description: 'Removes a subscription. Without any, the connection gets the events of all threads.',
  }),
  ack: z
    .object({
      type: kind('ack'),
      cursor: z.string().max(512).describe('The cursor of the last event that you have processed.'),
    })
    .meta({
      id: 'AckFrame',
      description:
        'Acknowledges events. Streams and requests without a cursor start at the acknowledged position. It only moves forward.',
    }),
} as const;

const { ping, subscribe, unsubscribe, ack } = clientFrames;
const clientFrame = z.discriminatedUnion('type', [ping, subscribe, unsubscribe, ack]);

const frameTypes = new Intl.ListFormat('en', { type: 'disjunction' }).format(Object.keys(clientFrames));

export type ClientFrame = z.infer<typeof clientFrame>;

/** Parses a text frame. @throws {DomainError} INVALID_JSON, VALIDATION_ERROR */
export function parseClientFrame(text: string): ClientFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DomainError('INVALID_JSON', 'The frame is not valid JSON.', { cause: error });
  }
  const type: unknown = Object(value).type;
  if (typeof type !== 'string' || !Object.hasOwn(clientFrames, type)) {
    throw new DomainError('VALIDATION_ERROR', `type: must be ${frameTypes}`);
  }
  return parseInput(clientFrame, value);
}
