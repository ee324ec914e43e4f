import { ValidationError } from '@chat-adapter/shared';

/** The name of the adapter, with which thread ids begin. */
export const adapterName = 'ams';

/** A decoded thread id. */
export interface AgentMessagingThread {
  /** The id in the service, thd_… */
  thread_id: string;
}

/** Returns the id of a thread in the SDK, ams:thd_… */
export function encodeThreadId({ thread_id }: AgentMessagingThread): string {
  return `${adapterName}:${thread_id}`;
}

/** @throws {ValidationError} if the text is not a thread id of this adapter */
export function decodeThreadId(id: string): AgentMessagingThread {
  const [, thread_id] = /^ams:(thd_\w+)$/.exec(id) ?? [];
  if (thread_id === undefined) throw new ValidationError(adapterName, `${id} is not a thread ID (ams:thd_…)`);
  return { thread_id };
}
