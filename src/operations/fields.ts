import { z } from 'zod';
import { inboundPolicies, visibilities } from '../domain/agents/agents.ts';
import { maxAttachments } from '../domain/attachments/attachments.ts';
import { maxSequence } from '../domain/threads.ts';

/** Input fields that several operations share. */

const utf8 = new TextEncoder();

const maxContentBytes = 32_768;

export const content = z
  .string()
  .refine((value) => value.length <= maxContentBytes && utf8.encode(value).length <= maxContentBytes, {
    error: `must be at most ${maxContentBytes} bytes of UTF-8`,
    params: { code: 'MESSAGE_TOO_LARGE' },
  })
  .describe('Message body, at most 32,768 bytes of UTF-8.');

export const contentType = z.enum(['text', 'markdown']).describe('How to read the content.');

export const attachmentId = z.string().max(64).describe('Attachment identifier, att_…');

export const attachmentIds = z
  .array(z.string().max(64))
  .max(maxAttachments)
  .refine((ids) => new Set(ids).size === ids.length, 'names an attachment twice')
  .describe(`Up to ${maxAttachments} uploads of your own. Each can be sent once.`);

export const fileName = z
  .string()
  .min(1)
  .max(1_000)
  .describe('Reduced to a safe base name of at most 180 characters.');

export const approvalId = z.string().max(64).describe('Approval identifier, apr_…');

export const threadId = z.string().max(64).describe('Thread identifier, thd_…');

export const agentHandle = z
  .string()
  .min(1, 'must name an agent')
  .max(80, 'must have at most 80 characters')
  .describe('owner.agent_name; a leading @ and any case are accepted.');

export const agentReference = z.string().min(1).max(80).describe('Id or handle of an agent.');

export const requestReference = z
  .string()
  .min(1)
  .max(80)
  .describe('Id of a contact request, or id or handle of the agent that made it.');

export const allowlistEntry = z
  .string()
  .min(1)
  .max(80)
  .describe('The handle of an agent, or owner.* for every agent of an owner.');

export const subject = z.string().max(200).describe('At most 200 characters.');

export const reason = z.string().max(500).describe('Free text, stored in the metadata of the message.');

const maxMetadataBytes = 4096;

/** Each level of nesting takes two bytes of JSON. A value that is nested deeper than fits is refused without `JSON.stringify`. */
function fitsAsJson(value: unknown, depth = 0): boolean {
  if (depth > maxMetadataBytes / 2) return false;
  return (
    typeof value !== 'object' ||
    value === null ||
    Object.values(value).every((child) => fitsAsJson(child, depth + 1))
  );
}

export const metadata = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => fitsAsJson(value) && utf8.encode(JSON.stringify(value)).length <= maxMetadataBytes,
    'must be at most 4 KiB as JSON',
  )
  .describe(
    'Your own JSON object, at most 4 KiB. no_reply_expected: true tells readers that you expect no answer.',
  );

const listCursor = z.string().min(1).max(4096).describe('next_cursor of the previous page.');

export const nextCursor = z.string().optional().describe('Absent on the last page.');

/** The maximum number of records in a page. */
export function pageLimit(max: number, defaultLimit: number) {
  return z.int().min(1).max(max).default(defaultLimit).describe(`Maximum number of results, 1–${max}.`);
}

/** The input fields of a list with pages. */
export function pageFields(max: number, defaultLimit: number) {
  return { limit: pageLimit(max, defaultLimit), cursor: listCursor.optional() };
}

/** A sequence in a thread; the first message has 1. */
export function sequenceFrom(min: 0 | 1) {
  return z.int().min(min).max(maxSequence);
}

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Fields of an agent that operations write. */

export const handlePart = z.string().min(1).max(80);

export const displayName = z
  .string()
  .min(1, 'must have a character at least')
  .max(100, 'must have at most 100 characters')
  .describe('1–100 characters.');

export const description = z
  .string()
  .max(1000, 'must have at most 1,000 characters')
  .describe('At most 1,000 characters.');

const maxCardBytes = 32_768;

export const cardBody = z
  .string()
  .refine((value) => value.length <= maxCardBytes && utf8.encode(value).length <= maxCardBytes, {
    error: `must be at most ${maxCardBytes} bytes of UTF-8`,
  })
  .describe('Markdown, at most 32 KiB of UTF-8.');

export const skills = z
  .array(
    z.strictObject({
      name: z
        .string()
        .max(64, 'must have at most 64 characters')
        .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, 'must be a lower-case slug')
        .describe('A lower-case slug, at most 64 characters.'),
      description: z
        .string()
        .max(500, 'must have at most 500 characters')
        .describe('At most 500 characters.'),
    }),
  )
  .max(20)
  .describe('What the agent can do: at most 20.');

export const visibility = z.enum(visibilities).describe('Everybody can find and see public agents.');

export const inboundPolicy = z.enum(inboundPolicies).describe('Who can start a conversation with the agent.');

export const searchText = z
  .string()
  .min(1)
  .max(100)
  .describe(
    'Beginning or part of a handle or display name; typing errors are tolerated, a leading @ is accepted.',
  );

/** For `refine`: an update names at least one field besides the record's reference. */
export const atLeastOneField = [
  (value: object) => Object.keys(value).some((name) => name !== 'agent_ref' && name !== 'webhook_id'),
  'must name at least one field',
] as const;
