/** The arguments of the `get_thread` call that returns a cut record whole. */
export interface RestCall {
  thread_id: string;
  message_limit: 1;
  before_sequence?: number;
}

/** Returns the call for a message or a thread; undefined for other objects. */
export function findRestCall({ id, thread_id, sequence }: Record<string, unknown>): RestCall | undefined {
  if (isThreadId(thread_id) && Number.isInteger(sequence))
    return { thread_id, message_limit: 1, before_sequence: Number(sequence) + 1 };
  return isThreadId(id) ? { thread_id: id, message_limit: 1 } : undefined;
}

function isThreadId(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('thd_');
}

/** The field `read_the_rest` of a result whose first cut text this call returns whole. */
export function describeRest(call: RestCall): string {
  const others =
    call.before_sequence === undefined
      ? 'For another thread, pass its id.'
      : 'For another message, pass its thread_id, and its sequence plus 1 as before_sequence.';
  return `get_thread with ${JSON.stringify(call)} returns the first cut text whole. ${others}`;
}
