import { ValidationError } from '@chat-adapter/shared';

/** The name of the adapter. Ids of threads begin with it. */
export const adapterName = 'ams';

/** What the id of a thread holds. */
export interface AgentMessagingThread {
  /** The id in the service, thd_… */
  thread_id: string;
}

/** Returns the id of a thread in the SDK, ams:thd_… */
export function encodeThreadId({ thread_id }: AgentMessagingThread): string {
  return `${adapterName}:${thread_id}`;
}

/** @throws {ValidationError} if the text is no id of this adapter */
export function decodeThreadId(id: string): AgentMessagingThread {
  const [, thread_id] = /^ams:(thd_\w+)$/.exec(id) ?? [];
  if (thread_id === undefined) throw new ValidationError(adapterName, `${id} is not a thread id, ams:thd_…`);
  return { thread_id };
}
