import { idPrefixes } from '../../../../packages/core/src/domain/ids.ts';

const opening = new Set('"\'`“”‘’<\\');
const closing = new Set('"\'`“”‘’>\\');

/** Longer than any id, handle, cursor or address, with quotes. */
const maxReferenceLength = 2_048;

/** Removes quotes around a text. A pattern for the end of the text would take time in the square of its length. */
function withoutQuotes(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && opening.has(text.charAt(start))) start += 1;
  while (end > start && closing.has(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const idPattern = /^([a-z]{3,4})_([0-9a-hjkmnp-tv-zilo]{26})$/i;

/**
 * An id, handle or cursor as models write it: with spaces or quotes around it, as a resource address such as `service://threads/thd_…`, and
 * an id in any case and with letters that Crockford's Base32 reads as digits.
 */
export function readReference(text: string): string {
  if (text.length > maxReferenceLength) return text;
  const bare = withoutQuotes(text.trim()).trim();
  const last = /^[a-z]+:\/\/\S*\/([^/?#]+)\/?$/i.exec(bare)?.[1] ?? bare;
  const [, prefix, ulid] = idPattern.exec(last) ?? [];
  if (prefix === undefined || ulid === undefined) return last;
  const digits = ulid.toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');
  return `${prefix.toLowerCase()}_${digits}`;
}

const kindNames: Record<string, string> = {
  agent: 'an agent id',
  thread: 'a thread id',
  message: 'a message id',
  attachment: 'an attachment id',
  contactRequest: 'the id of a contact request',
  event: 'an event id',
  approval: 'an approval id',
  lease: 'a lease id',
  task: 'a task id',
};

/** What an id is, such as `a message id`; undefined for a text that is no id. */
export function describeId(value: unknown): string | undefined {
  const prefix =
    typeof value === 'string' ? /^([a-z]+)_[0-9A-Z]+$/i.exec(value)?.[1]?.toLowerCase() : undefined;
  const kind = Object.entries(idPrefixes).find(([, one]) => one === prefix)?.[0];
  return kind === undefined ? undefined : kindNames[kind];
}
