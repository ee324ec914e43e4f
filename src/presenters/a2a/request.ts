import { z } from 'zod';
import { isNestedAtMost } from '../../../packages/core/src/inputs/fields.ts';
import { isBlank } from '../../../packages/core/src/domain/visible-text.ts';
import { maxAttachments } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { messagePushConfig } from './push-config.ts';
import { wireTaskStates } from './states.ts';

/** The maximum size of the files of a message, in bytes, before they are encoded. Larger files are uploaded over `/v1`, or sent as URLs. */
const maxRawBytes = 4 * 1024 * 1024;

/** RFC 4648, sections 4 and 5: ProtoJSON accepts both alphabets, with and without padding. No pattern of groups: it fails for long texts. */
function isBase64(text: string): boolean {
  const body = text.replace(/={1,2}$/, '');
  const rest = body.length % 4;
  return !/[^\w+/-]/.test(body) && rest !== 1 && (rest > 0 || body.length === text.length);
}

/** Fields with JSON of the client, whose names stay as they are. */
const ownJson = new Set(['data', 'metadata']);

/** The nesting of JSON of the client, at most. */
const maxJsonDepth = 100;

/** The nesting of the messages of a request, at most. */
const maxDepth = 6;

/**
 * Returns a request with the field names of its schema and without null. A parser of ProtoJSON also accepts the names of the proto file, and
 * takes null as an absent field.
 */
export function fromProtoJson(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => fromProtoJson(item, depth + 1));
  const fields = Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    if (name === 'data') return [[name, field]];
    if (field === null) return [];
    const known = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [[known, ownJson.has(known) ? field : fromProtoJson(field, depth + 1)]];
  });
  return Object.fromEntries(fields);
}

/** An ID of another form is one of no task, not invalid input. */
const id = z.string().min(1).max(1_024);
/** In ProtoJSON an empty string can be an unset one. */
const optionalId = z
  .string()
  .max(1_024)
  .transform((value) => value || undefined)
  .optional();
const depthError = `must be nested at most ${maxJsonDepth} levels deep`;
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => isNestedAtMost(value, maxJsonDepth), depthError);
const contents = ['text', 'raw', 'url', 'data'] as const;

/** A part (A2A 1.0, section 4.1.6). Unknown fields are ignored (section 5.7), here and in every other object. */
export const wirePart = z
  .object({
    text: z.string().optional(),
    raw: z.string().refine(isBase64, 'must be base64').optional(),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .max(2_048, 'must have at most 2,048 characters')
      .optional(),
    data: z
      .unknown()
      .refine((value) => isNestedAtMost(value, maxJsonDepth), depthError)
      .optional(),
    metadata: metadata.optional(),
    filename: z.string().max(255).optional(),
    mediaType: z.string().max(200).optional(),
  })
  .refine((value) => contents.filter((name) => value[name] !== undefined).length === 1, {
    error: 'must have exactly one of text, raw, url and data',
  });

export type WirePart = z.infer<typeof wirePart>;

const rawBytes = (parts: readonly WirePart[]): number =>
  parts.reduce((sum, { raw = '' }) => sum + Buffer.byteLength(raw, 'base64'), 0);

/** An enum of ProtoJSON: a name, or its number. */
const enumOf = <const Name extends string>(names: readonly Name[], error: string) =>
  z.preprocess(
    (value) =>
      typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
        ? (names[Number(value)] ?? value)
        : value,
    z.enum(names, { error }),
  );

const roles = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'] as const;

const message = z.object({
  messageId: z
    .string()
    .regex(
      /^[\x21-\x7e]{1,255}$/,
      'must be 1 to 255 visible ASCII characters; choose a new one for each message',
    ),
  contextId: optionalId,
  taskId: optionalId,
  role: enumOf(roles, 'must be ROLE_USER').refine((role) => role === 'ROLE_USER', 'must be ROLE_USER'),
  parts: z
    .array(wirePart)
    .min(1, 'must have at least one part')
    .max(100, 'must have at most 100 parts')
    .refine((parts) => parts.filter(({ raw }) => raw !== undefined).length <= maxAttachments, {
      error: `must have at most ${maxAttachments} raw parts; send further files as url parts`,
    })
    .refine((parts) => rawBytes(parts) <= maxRawBytes, {
      error: 'must have at most 4 MiB in raw parts; send larger files as url parts',
    })
    .refine((parts) => parts.some(({ text }) => text === undefined || !isBlank(text)), {
      error: 'must have a part that is not blank',
    }),
  metadata: metadata.optional(),
  extensions: z.array(z.string().max(2_048)).max(20).optional(),
  referenceTaskIds: z.array(z.string().max(1_024)).max(100).optional(),
});

export type WireMessage = z.infer<typeof message>;

/** An int32 of ProtoJSON: a number, or a string with a number, also with an exponent. */
const int32 = z.preprocess(
  (value) =>
    typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : value,
  z.int32(),
);

const historyLength = int32.pipe(z.int().min(0)).optional();
/** The address selects the agent. */
const tenant = z.literal('', { error: 'must be empty: the address selects the agent' }).optional();

/** SendMessageRequest (A2A 1.0, section 3.2.1). */
export const sendMessageRequest = z.object({
  tenant,
  message,
  configuration: z
    .object({
      acceptedOutputModes: z.array(z.string().min(1).max(100)).max(20).default([]),
      taskPushNotificationConfig: messagePushConfig.optional(),
      historyLength,
      returnImmediately: z.boolean().default(false),
    })
    .default({ acceptedOutputModes: [], returnImmediately: false }),
  metadata: metadata.optional(),
});

export type SendMessageRequest = z.infer<typeof sendMessageRequest>;

/** GetTaskRequest (section 3.1.3). */
export const getTaskRequest = z.object({ tenant, id, historyLength });

/** CancelTaskRequest (section 3.1.5), and SubscribeToTaskRequest (section 3.1.6). */
export const taskRequest = z.object({ tenant, id });

/** GetExtendedAgentCardRequest (section 3.1.11). */
export const emptyRequest = z.object({ tenant });

const timeError = 'must be a time with a zone, such as 2026-11-26T09:00:00Z';

/** ListTasksRequest (section 3.1.4). An empty string is an unset one. */
export const listTasksRequest = z.object({
  tenant,
  contextId: optionalId,
  status: enumOf(wireTaskStates, `must be one of ${wireTaskStates.slice(1).join(', ')}`).optional(),
  pageSize: int32.pipe(z.int().min(1, 'must be 1 to 100').max(100, 'must be 1 to 100')).default(50),
  pageToken: z
    .string()
    .max(4_096)
    .transform((value) => value || undefined)
    .optional(),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true, error: timeError }).optional(),
  includeArtifacts: z.boolean().default(false),
});

export type ListTasksRequest = z.infer<typeof listTasksRequest>;
