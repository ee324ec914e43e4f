import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { HeldCall } from '../../services/approvals/reviews.ts';
import type { Operation } from '../define.ts';

/** Further fields that the other side sees. */
const shownFields = ['handle', 'subject', 'reason', 'metadata', 'data'];

/** What a person reads of a call: its texts, its files, and what else of it the other side would see. */
export function describeCall(operation: Operation, input: object): HeldCall['shown'] {
  const fields: Record<string, unknown> = { ...input };
  const about = shownFields.flatMap((name) => {
    const value = fields[name];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text === undefined || ['', '{}', 'null'].includes(text) ? [] : [`${name}: ${text}`];
  });
  const messages = listMessages(operation, fields);
  return {
    texts: messages.map(({ content }) => content),
    attachment_ids: messages.flatMap(({ attachment_ids: ids }) => ids),
    about: about.join('\n'),
  };
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
    throw new DomainError('VALIDATION_ERROR', 'The call has another number of texts.');
  const field = operation.review?.texts ?? '';
  const edit = (value: unknown, text = '') => (isRecord(value) ? { ...value, content: text } : text);
  if (field === 'content') return edit(fields, texts[0]);
  const value = fields[field];
  return {
    ...fields,
    [field]: Array.isArray(value) ? value.map((item, at) => edit(item, texts[at])) : edit(value, texts[0]),
  };
}
