import type { Relationship } from '../../../../packages/core/src/domain/agents/agents.ts';
import type { ApprovalAction, ApprovalState } from '../../../../packages/core/src/domain/approvals.ts';
import type { ContactRequestRecord } from '../../../../packages/core/src/records/contact.ts';
import type { TaskRecord } from '../../../../packages/core/src/records/task.ts';
import type { ThreadRecord } from '../../../../packages/core/src/records/thread.ts';
import type { ToolMessage } from '../../../../packages/core/src/records/tool-message.ts';

/** A message of a result, in which a long text is cut. */
export type ShownMessage = ToolMessage & { truncated?: true };

export interface ConversationValue {
  thread: ThreadRecord;
  messages: readonly ShownMessage[];
  earlier: boolean;
}

export interface ListedThread extends Pick<ThreadRecord, 'id' | 'subject' | 'status' | 'unread_count'> {
  members: readonly { canonical_handle: string; relationship: Relationship }[];
  last_message_at?: number | null;
  last_message: { sender: { canonical_handle: string }; preview: string } | null;
}

export interface InboxValue {
  threads: readonly ListedThread[];
}

/** An approval of the agent; of one pending review with its texts, what else the other side would see, and the files. */
export interface ShownApproval {
  id: string;
  agent_handle: string;
  agent_display_name: string;
  action: ApprovalAction;
  target: string;
  is_review: boolean;
  recipients: readonly string[];
  message: string;
  client_name: string;
  state: ApprovalState;
  reason: string | null;
  created_at: number;
  url: string;
  texts?: readonly string[];
  about?: string;
  files?: readonly { filename: string; size_bytes: number }[];
}

export interface ApprovalsValue {
  approvals: readonly ShownApproval[];
}

/** The results of the tools that views call. */
export interface Results {
  get_thread: ConversationValue;
  mark_read: object;
  list_tasks: {
    tasks: readonly Pick<TaskRecord, 'id' | 'thread_id' | 'client' | 'created_at' | 'overdue'>[];
  };
  list_contact_requests: { requests: readonly ContactRequestRecord[] };
  respond_to_contact_request: object;
  show_approvals: ApprovalsValue;
}
