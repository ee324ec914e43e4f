import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { HeldCall } from '../../services/approvals/reviews.ts';
import type { Operation } from '../define.ts';

/** Fields that a person does not need to read: the texts and files, which have a place of their own, and what only programs use. */
const hiddenFields = new Set([
  'content',
  'content_type',
  'attachment_ids',
  'thread_id',
  'lease_id',
  'idempotency_key',
  'wait_seconds',
  'agent',
  'has_mailbox',
  'message_id',
  'digest',
  'wire',
  'history_length',
  'push_config',
  'expects_reply',
]);

/** Fields whose value is data of its own. */
const dataFields = new Set(['metadata', 'data']);

/** The other fields of an input, one in a line. */
function describeFields(fields: Record<string, unknown>, path = ''): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (hiddenFields.has(name) || value === undefined || value === null) return [];
    const place = `${path}${name}`;
    if (Array.isArray(value))
      return value.flatMap((item, at) =>
        isRecord(item) ? describeFields(item, `${place}.${at + 1}.`) : [describeValue(place, item)],
      );
    if (!isRecord(value) || (dataFields.has(name) && Object.keys(value).length > 0))
      return [describeValue(place, value)];
    return describeFields(value, `${place}.`);
  });
}

/** The field in words, and its value: a text as it is, anything else as JSON. */
function describeValue(place: string, value: unknown): string {
  const words = /^(?:with_handle|participants)$/.test(place) ? 'to' : place.replaceAll(/[_.]/g, ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return `${title}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

/** What a person reads of a call: its texts, its files, and what else of it the other side would see. */
export function describeCall(operation: Operation, input: object): HeldCall['shown'] {
  const fields: Record<string, unknown> = { ...input };
  const messages = listMessages(operation, fields);
  return {
    texts: messages.map(({ content }) => content),
    attachment_ids: messages.flatMap(({ attachment_ids: ids }) => ids),
    about: describeFields(withoutText(operation, fields)).join('\n'),
  };
}

/** A field whose value is the text itself is no other field. */
function withoutText({ review }: Operation, fields: Record<string, unknown>): Record<string, unknown> {
  const field = review?.texts ?? '';
  return typeof fields[field] === 'string' ? { ...fields, [field]: undefined } : fields;
}

/** The messages of a call, in their order. */
function listMessages({ review }: Pick<Operation, 'review'>, fields: Record<string, unknown>) {
  const field = review?.texts;
  if (field === undefined) return [];
  const value = field === 'content' ? fields : fields[field];
  return (Array.isArray(value) ? value : [value]).flatMap(toMessage);
}

function toMessage(value: unknown): { content: string; attachment_ids: string[] }[] {
  if (typeof value === 'string') return [{ content: value, attachment_ids: [] }];
  if (!isRecord(value)) return [];
  const { content = '', attachment_ids: ids = [] } = value;
  return [{ content: String(content), attachment_ids: Array.isArray(ids) ? ids.map(String) : [] }];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * Returns the input with other texts, in the order of `describeCall`. It is not checked.
 * @throws {DomainError} VALIDATION_ERROR when there are more or fewer
 */
export function replaceTexts(operation: Operation, input: object, texts: readonly string[]): unknown {
  const fields: Record<string, unknown> = { ...input };
  if (listMessages(operation, fields).length !== texts.length)
    throw new DomainError('VALIDATION_ERROR', 'Send one text for each message of the call.');
  const field = operation.review?.texts ?? '';
  const edit = (value: unknown, text = '') => (isRecord(value) ? { ...value, content: text } : text);
  if (field === 'content') return edit(fields, texts[0]);
  const value = fields[field];
  return {
    ...fields,
    [field]: Array.isArray(value) ? value.map((item, at) => edit(item, texts[at])) : edit(value, texts[0]),
  };
}
