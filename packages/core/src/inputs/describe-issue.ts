import { z } from 'zod';
import leven from 'leven';
import type { ErrorDetail } from '../domain/errors.ts';

const maxFieldLength = 200;
/** Fields that are named in one error, at most. */
const maxNamed = 40;
/** Unknown fields that are reported, at most. */
const maxUnknown = 20;
/** A field is suggested for a name that differs from it in at most this share of the letters. */
const maxDifference = 0.5;
const separator = ', ';

type RawIssue = z.core.$ZodRawIssue;

/** What a value must be, by the type that the schema expects. */
const typeNames: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

/** What sizes count, by the type of the value. */
const units: Record<string, string> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  file: ' bytes',
};

/**
 * Describes an issue in the words of this API, for `safeParse`. Messages that a schema sets itself take precedence.
 * @returns a predicate for the field, such as `must be an integer`
 */
export function describeIssue(issue: RawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue);
    case 'too_big':
      return describeLimit(issue.origin, 'at most', issue.maximum);
    case 'too_small':
      return describeLimit(issue.origin, 'at least', issue.minimum);
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'regex' ? 'has the wrong format' : `must be a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'unrecognized_keys':
      // For `toDetails`, which writes a message for each of the keys.
      return listFields(issue.inst).join(separator);
    case 'invalid_union':
      return describeUnion(issue.errors);
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    default:
      return 'has an invalid value';
  }
}

function describeType({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const fields = listFields(inst).join(separator);
  const type = typeNames[inst instanceof z.ZodNumberFormat ? 'int' : expected] ?? 'has the wrong type';
  return fields === '' ? type : `${type} with the fields ${fields}`;
}

/** The types that a value of several forms can have. */
function describeUnion(errors: readonly z.core.$ZodIssue[][]): string {
  const types = errors.flatMap((issues) => issues.filter(isTypeIssue).map(({ message }) => message));
  return types.length === 0 ? 'has an invalid value' : types.join(', or ');
}

function isTypeIssue({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' && path.length === 0;
}

function describeLimit(origin: string, limit: 'at most' | 'at least', value: number | bigint): string {
  const unit = Number(value) === 1 ? units[origin]?.replace(/s$/, '') : units[origin];
  return unit === undefined ? `must be ${limit} ${value}` : `must have ${limit} ${value}${unit}`;
}

/**
 * The wrong fields of an issue, each with a message. An unknown field gets the most similar name.
 * @param fields the names of the fields of the input, for the issues at its root.
 */
export function toDetails(issue: z.core.$ZodIssue, fields?: readonly string[]): ErrorDetail[] {
  if (issue.code === 'invalid_union') {
    // The form whose type fits says what is wrong.
    const form = issue.errors.find((issues) => !issues.some(isTypeIssue));
    if (form) return form.flatMap((one) => toDetails({ ...one, path: [...issue.path, ...one.path] }));
  }
  const at = (...more: string[]) => [...issue.path, ...more].map(String).join('.').slice(0, maxFieldLength);
  if (issue.code === 'custom' && issue.path.length === 0 && fields) {
    // About the object as a whole: `atLeastOneField`.
    const changeable = fields.filter((name) => !/_(?:ref|id|key)$/.test(name));
    return [{ field: '', message: `${issue.message}: ${changeable.join(separator)}` }];
  }
  if (issue.code !== 'unrecognized_keys') return [{ field: at(), message: issue.message }];
  const known = (issue.path.length === 0 && fields) || issue.message.split(separator).filter(Boolean);
  const keys = issue.keys.slice(0, maxUnknown);
  return keys.map((key, index) => ({
    field: at(key),
    message: describeUnknown(key, known, index === keys.length - 1 ? 'Fields' : undefined),
  }));
}

/** Describes an unknown name: the most similar known one, then all of them after `label`, if there is one. */
export function describeUnknown(key: string, fields: readonly string[], label: string | undefined): string {
  const similar = findSimilar(key, fields);
  const hint = similar === undefined ? '' : `; did you mean ${similar}?`;
  if (label === undefined || fields.length === 0) return `is unknown${hint}`;
  return `is unknown${hint || '.'} ${label}: ${fields.slice(0, maxNamed).join(separator)}.`;
}

/** Names that callers use for a field, where the most similar one would be another. */
const usualNames: readonly (readonly [field: string, names: readonly string[]])[] = [
  ['with_handle', ['to', 'recipient', 'agent', 'agent_id', 'user', 'handle', 'with', 'target']],
  ['handle', ['to', 'agent', 'agent_id', 'user', 'name', 'target', 'with_handle']],
  ['participants', ['members', 'recipients', 'handles', 'agents']],
  ['content', ['text', 'body', 'message', 'msg', 'question', 'markdown', 'data', 'base64', 'file']],
  ['initial_message', ['content', 'text', 'body', 'message', 'first_message']],
  ['subject', ['title', 'topic', 'name']],
  ['attachment_ids', ['files', 'attachments', 'attachment']],
  ['filename', ['name', 'file_name', 'title']],
  ['text', ['body', 'contents', 'data']],
  ['content_type', ['format', 'mime_type', 'mimetype', 'type']],
  ['wait_seconds', ['timeout', 'timeout_seconds', 'timeout_ms', 'wait', 'seconds', 'wait_ms']],
  ['up_to_sequence', ['sequence', 'message_id', 'last_sequence', 'upto']],
  ['after_sequence', ['sequence', 'message_id', 'after']],
  ['before_sequence', ['before', 'cursor', 'before_id', 'offset']],
  ['message_limit', ['count', 'max', 'page_size']],
  ['limit', ['count', 'max', 'page_size', 'max_results', 'top']],
  ['cursor', ['page', 'offset', 'next', 'page_token', 'position', 'event_id', 'after']],
  ['updated_since', ['since', 'after', 'date']],
  ['after', ['since', 'start', 'date']],
  ['before', ['until', 'end']],
  ['unread', ['unread_only', 'only_unread']],
  ['from', ['sender', 'author']],
  ['has', ['attachment', 'attachments', 'has_attachment']],
  ['types', ['event_types', 'events', 'filter']],
  ['display_name', ['name', 'title']],
  ['card_body', ['card', 'body', 'markdown', 'content']],
  ['description', ['bio', 'about']],
  ['q', ['name', 'text', 'search', 'term', 'handle']],
  ['query', ['text', 'search', 'term', 'words']],
  ['decision', ['approve', 'response', 'answer', 'action', 'accept']],
  ['request_id', ['id', 'handle', 'contact']],
  ['thread_id', ['id', 'conversation', 'conversation_id', 'channel', 'channel_id']],
  ['attachment_id', ['id', 'file_id', 'file']],
  ['lease_id', ['id', 'message_id', 'lease']],
  ['status', ['state', 'archived', 'closed', 'archive', 'close']],
  ['max', ['limit', 'count']],
  ['message', ['text', 'content', 'body', 'note', 'reason']],
  ['reason', ['why', 'note', 'message', 'comment']],
];

/** The name that contains the text, is contained in it, or differs least from it. */
export function findSimilar(key: string, fields: readonly string[]): string | undefined {
  const text = key.slice(0, 64).toLowerCase();
  const meant = usualNames.find(([field, names]) => names.includes(text) && fields.includes(field));
  if (meant) return meant[0];
  const ranked = fields
    .map((field) => ({ field, difference: difference(text, field) }))
    .toSorted((one, other) => one.difference - other.difference);
  const [best] = ranked;
  return best && best.difference <= maxDifference ? best.field : undefined;
}

function difference(text: string, field: string): number {
  const isPart = text.length >= 3 && (field.includes(text) || text.includes(field));
  return isPart ? 0.1 : leven(text, field) / Math.max(text.length, field.length);
}

/** The names of an object's fields; none for other schemas. */
export function listFields(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
