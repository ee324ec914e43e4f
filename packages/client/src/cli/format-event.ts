import type { ClientEvent } from '../main.ts';
import { formatMessage, formatTime, type Output, toPlainLine } from './output.ts';

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
  return `${formatTime(event.created_at)} ${toPlainLine(event.type)} ${toPlainLine(JSON.stringify(event.data))}`;
}
