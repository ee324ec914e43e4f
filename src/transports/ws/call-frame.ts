import { z } from 'zod';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { catalogue } from '../../operations/catalogue.ts';

const callId = z
  .string()
  .min(1)
  .max(128)
  .describe('Your id for this call, at most 128 characters; not that of another call in flight.');

/** The frame that calls an operation. */
export const callFrame = z
  .strictObject({
    type: z.literal('call').describe('Frame type.'),
    id: callId,
    operation: z
      .string()
      .max(100)
      .meta({ enum: catalogue.filter(({ file }) => !file).map(({ name }) => name) })
      .describe('The operation, by its id in `/v1/openapi.json`.'),
    input: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('The path parameters, and the query parameters or body of the operation over REST.'),
    idempotency_key: z
      .string()
      .optional()
      .describe('As the header `Idempotency-Key` over REST, and required where that is.'),
  })
  .meta({
    id: 'CallFrame',
    description:
      'Calls an operation, as over REST. The service answers with `result`. Calls run concurrently, and results arrive in any order.',
  });

export type CallFrame = z.infer<typeof callFrame>;

/** @throws {DomainError} VALIDATION_ERROR: without an id, no result can name the call. */
export function readCallId(value: object): string {
  const { data } = callId.safeParse(Object(value).id);
  if (data === undefined || !data.isWellFormed()) {
    throw wrongField('id', 'must be a text of 1 to 128 characters');
  }
  return data;
}

/** Parses a call without its input, which the operation parses. @throws {DomainError} VALIDATION_ERROR */
export function parseCallFrame(value: object): CallFrame {
  const { input = {}, ...head } = value as { input?: unknown };
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw wrongField('input', 'must be an object');
  }
  return { ...parseInput(callFrame, head), input: input as Record<string, unknown> };
}
