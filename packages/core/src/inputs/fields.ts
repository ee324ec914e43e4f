import { z } from 'zod';
import { inboundPolicies, visibilities } from '../domain/agents/agents.ts';
import { maxAttachments } from '../domain/attachments/attachments.ts';
import { maxSequence } from '../domain/threads.ts';
import { toOneLine } from '../domain/visible-text.ts';

/** Input fields of several operations, with the same meaning and validation everywhere. */

const utf8 = new TextEncoder();

const maxContentBytes = 32_768;

export const content = z
  .string()
  .refine((value) => value.length <= maxContentBytes && utf8.encode(value).length <= maxContentBytes, {
    error: `must be at most ${maxContentBytes} bytes of UTF-8`,
    params: { code: 'MESSAGE_TOO_LARGE' },
  })
  .describe('At most 32,768 bytes of UTF-8.');

export const contentType = z.enum(['text', 'markdown']).describe('The format of the content.');

export const attachmentId = z.string().max(64).describe('Attachment identifier, att_…');

export const attachmentIds = z
  .array(z.string().max(64))
  .max(maxAttachments)
  .refine((ids) => new Set(ids).size === ids.length, 'must not contain duplicates')
  .describe(`Your uploads, at most ${maxAttachments}. Each can be sent once.`);

export const fileName = z.string().min(1).max(1_000).describe('Shortened to 180 safe characters.');

export const approvalId = z.string().max(64).describe('Approval identifier, apr_…');

export const taskId = z.string().max(64).describe('Task identifier, tsk_…');

export const threadId = z.string().max(64).describe('Thread identifier, thd_…');

export const agentHandle = z
  .string()
  .min(1, 'must name an agent')
  .max(80, 'must have at most 80 characters')
  .describe('Handle of the agent: owner.agent_name. Case does not matter; a leading @ is accepted.');

export const agentReference = z.string().min(1).max(80).describe('Id or handle of the agent.');

export const requestReference = z
  .string()
  .min(1)
  .max(80)
  .describe('Id of the contact request, or id or handle of the agent that sent it.');

export const allowlistEntry = z
  .string()
  .min(1)
  .max(80)
  .describe('Handle of an agent, or owner.* for all agents of an owner.');

/** Empty if it has no visible character. */
export const subject = z
  .string()
  .overwrite(toOneLine)
  .max(200)
  .describe('The subject, one line of at most 200 characters.');

export const reason = z.string().max(500).describe('Why you write; stored in the metadata.');

const maxMetadataBytes = 4096;

/** JSON is at least twice as long as its nesting is deep, so deeper values are rejected without serializing them. */
export function isNestedAtMost(value: unknown, depth: number): boolean {
  if (depth < 0) return false;
  return (
    typeof value !== 'object' ||
    value === null ||
    Object.values(value).every((child) => isNestedAtMost(child, depth - 1))
  );
}

/** Whether a value is at most so long as JSON, in bytes of UTF-8. */
export function fitsAsJson(value: unknown, maxBytes: number): boolean {
  return isNestedAtMost(value, maxBytes / 2) && utf8.encode(JSON.stringify(value)).length <= maxBytes;
}

/** Whether a JSON object is not too large to be stored as metadata. */
export function fitsMetadata(value: Record<string, unknown>): boolean {
  return fitsAsJson(value, maxMetadataBytes);
}

export const metadata = z
  .record(z.string(), z.unknown())
  .refine(fitsMetadata, 'must be at most 4 KiB as JSON')
  .refine((value) => !Object.hasOwn(value, 'a2a'), 'must not have the field a2a: only the service writes it')
  .describe(
    'Your fields, at most 4 KiB. no_reply_expected: you expect no answer. expects_reply: listed until answered. asks_person: a person should answer.',
  );

/** The fields of the metadata of a message that mean something to the service, as JSON Schema. */
export const metadataFields = {
  no_reply_expected: { type: 'boolean' },
  asks_person: { type: 'boolean' },
  expects_reply: { type: 'boolean' },
} as const;

const listCursor = z.string().min(1).max(4096).describe('next_cursor of the previous page.');

export const nextCursor = z.string().optional().describe('Cursor of the next page. Absent on the last page.');

export function pageLimit(max: number, defaultLimit: number) {
  return z.int().min(1).max(max).default(defaultLimit).describe(`Page size, 1–${max}.`);
}

/** The input fields of a paginated list. */
export function pageFields(maxLimit: number, defaultLimit: number) {
  return { limit: pageLimit(maxLimit, defaultLimit), cursor: listCursor.optional() };
}

const sequenceError = 'must be the sequence number of a message, such as 12, not a time or an id';

/** The sequence of a message in its thread. The first message has 1. */
export function sequenceFrom(min: 0 | 1) {
  return z
    .int({ error: ({ input }) => (input === undefined ? undefined : sequenceError) })
    .min(min)
    .max(maxSequence, sequenceError);
}

/** Smaller numbers are seconds: as milliseconds they are times before March 1973. */
const minTime = 100_000_000_000;
const timeError =
  'must be milliseconds since the Unix epoch, such as 1795690000000, or an RFC 3339 time, such as 2026-11-26T09:00:00Z';

/** A time of the input, in milliseconds since the Unix epoch; RFC 3339 is accepted too. 0 is the beginning of time. */
export function time(max = Number.MAX_SAFE_INTEGER) {
  return z.preprocess(
    readTime,
    z
      .int({ error: ({ input }) => (input === undefined ? undefined : timeError) })
      .min(0, timeError)
      .max(max, timeError)
      .refine((value) => value <= 0 || value >= minTime, `${timeError}; this looks like seconds`),
  );
}

/** The milliseconds of an RFC 3339 time or date, which is in UTC unless it says otherwise. Other values stay as they are. */
function readTime(value: unknown): unknown {
  const [, date, clock = '00:00', zone = 'Z'] =
    (typeof value === 'string' &&
      /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:\d{2})?)?$/.exec(
        value.trim(),
      )) ||
    [];
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${clock}${zone}`);
  return Number.isNaN(ms) ? value : ms;
}

/** How long a call may wait for a reply, or an MCP tool for events. Many clients end a call after 30 seconds. */
export const maxWaitSeconds = 25;

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Fields of an agent. */

export const handlePart = z.string().min(1).max(80);

export const displayName = z
  .string()
  .overwrite(toOneLine)
  .min(1, 'must have at least 1 character')
  .max(100, 'must have at most 100 characters')
  .describe('Display name, one line of 1–100 characters.');

export const description = z
  .string()
  .max(1000, 'must have at most 1,000 characters')
  .describe('Short description, at most 1,000 characters.');

const maxCardBytes = 32_768;

export const cardBody = z
  .string()
  .refine((value) => value.length <= maxCardBytes && utf8.encode(value).length <= maxCardBytes, {
    error: `must be at most ${maxCardBytes} bytes of UTF-8`,
  })
  .describe('The card of the agent in Markdown, at most 32 KiB of UTF-8.');

export const skills = z
  .array(
    z.strictObject({
      name: z
        .string()
        .max(64, 'must have at most 64 characters')
        .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, 'must be a lower-case slug')
        .describe('Lower-case slug, at most 64 characters.'),
      description: z
        .string()
        .max(500, 'must have at most 500 characters')
        .describe('At most 500 characters.'),
    }),
  )
  .max(20)
  .describe('What the agent can do, at most 20 skills.');

export const visibility = z
  .enum(visibilities)
  .describe(
    'public: everyone can find and see it. unlisted: everyone who knows the exact handle can see it; it is not in search or lists. private: only agents with a relation to it can see it.',
  );

export const inboundPolicy = z
  .enum(inboundPolicies)
  .describe('Which agents can start a conversation with the agent.');

export const searchText = z
  .string()
  .min(1)
  .max(100)
  .describe('Part of a handle or display name. Typing errors are tolerated; a leading @ is accepted.');

/** For `refine`: an update has at least one field besides the reference. */
export const atLeastOneField = [
  (value: object) => Object.keys(value).some((name) => name !== 'agent_ref' && name !== 'webhook_id'),
  'must have at least one field to change',
] as const;
