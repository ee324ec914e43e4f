import type { ClientEvent } from '../main.ts';
import { formatMessage, formatTime, type Output, shorten, toPlainLine } from './output.ts';

/** An event for people. */
export function formatEvent(output: Output, event: ClientEvent): string {
  if (event.type === 'message.created')
    return `${output.style('dim', event.data.thread_id)} ${formatMessage(output, event.data)}`;
  if (event.type === 'contact.request') {
    const { from, message, request_id } = event.data;
    const text = message === null ? '' : `: ${toPlainLine(message)}`;
    return `${request_id} ${output.style('bold', from.canonical_handle)} asks for contact${text}`;
  }
  if (event.type === 'gap')
    return output.style('red', 'some events are no longer kept: read your threads again');
  // The other types are shown alike, those of later versions too.
  const facts = Object.entries(Object(event.data)).flatMap(([name, value]) => {
    const text = describeValue(name, value);
    return text === '' ? [] : `${toPlainLine(name)}: ${text}`;
  });
  return `${formatTime(event.created_at)} ${output.style('bold', toPlainLine(event.type))} ${facts.join(', ')}`;
}

/** A value for people. Of an agent it is the handle, of another object the id, or nothing. */
function describeValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value))
    return value
      .map((item) => describeValue(name, item))
      .filter(Boolean)
      .join(' ');
  if (typeof value === 'object') {
    const { canonical_handle, id } = Object(value) as Record<string, unknown>;
    return describeValue('', canonical_handle ?? id ?? '');
  }
  if (typeof value === 'number' && name.endsWith('_at')) return formatTime(value);
  return shorten(toPlainLine(`${value as string | number | boolean | undefined}`), 200);
}
