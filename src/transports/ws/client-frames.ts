import { z } from 'zod';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import { createJsonCounter, maxJsonValues } from '../http/json-counter.ts';
import { callFrame } from './call-frame.ts';

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
  call: callFrame,
} as const;

const { ping, subscribe, unsubscribe, ack } = clientFrames;
const clientFrame = z.discriminatedUnion('type', [ping, subscribe, unsubscribe, ack]);

const frameTypes = new Intl.ListFormat('en', { type: 'disjunction' }).format(Object.keys(clientFrames));

/** A frame of the connection itself. `createCalls` parses calls. */
export type ControlFrame = z.infer<typeof clientFrame>;

/**
 * Reads the JSON of a text frame.
 * @throws {DomainError} INVALID_JSON; VALIDATION_ERROR when a call has too many values
 */
export function readFrame(bytes: Buffer): { type?: unknown } {
  const value = Object(parseJson(bytes)) as { type?: unknown };
  if (value.type === 'call') requireFewValues(bytes);
  return value;
}

/** @throws {DomainError} VALIDATION_ERROR */
export function parseControlFrame(value: { type?: unknown }): ControlFrame {
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(clientFrames, type)) {
    throw new DomainError('VALIDATION_ERROR', `type: must be ${frameTypes}`);
  }
  return parseInput(clientFrame, value);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new DomainError('INVALID_JSON', 'The frame is not valid JSON.', { cause: error });
  }
}

/** A frame with fewer bytes cannot have too many values. */
function requireFewValues(bytes: Buffer): void {
  if (bytes.length <= maxJsonValues) return;
  const counter = createJsonCounter();
  counter.add(bytes);
  if (!counter.hasTooMany()) return;
  throw new DomainError('VALIDATION_ERROR', `The frame has too many values: at most ${maxJsonValues}.`);
}
