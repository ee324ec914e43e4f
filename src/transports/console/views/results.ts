import type { ThreadRecord } from '../../../../packages/core/src/records/thread.ts';
import type { ToolMessage } from '../../../../packages/core/src/records/tool-message.ts';

/** A message of a result, in which a long text is cut. */
export type ShownMessage = ToolMessage & { truncated?: true };

export interface ConversationValue {
  thread: ThreadRecord;
  messages: readonly ShownMessage[];
  earlier: boolean;
}

/** The results of the tools that views call. */
export interface Results {
  get_thread: ConversationValue;
  mark_read: object;
}
