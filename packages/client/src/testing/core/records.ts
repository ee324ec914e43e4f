import type { OutgoingPolicy } from '../../../../core/src/domain/agents/agents.ts';
import type { FailedAttempt } from '../../../../core/src/domain/inbox.ts';
import type { TaskDelivery } from '../../../../core/src/domain/tasks.ts';
import type { EventColumns } from '../../../../core/src/events/present-event.ts';
import type { WebhookDeliveryRecord, WebhookRecord } from '../../../../core/src/events/webhook-record.ts';
import type { AgentRecord } from '../../../../core/src/records/agent.ts';
import type { ApprovalRecord } from '../../../../core/src/records/approval.ts';
import type { AttachmentRecord } from '../../../../core/src/records/attachment.ts';
import type { MessageColumns } from '../../../../core/src/records/message.ts';
import type { TaskColumns } from '../../../../core/src/records/task.ts';
import type { ReceiptColumns } from '../../../../core/src/records/receipt.ts';
import type { ThreadColumns } from '../../../../core/src/records/thread.ts';

/** What several features of the fake service store: rows as the presenters of the service read them. */

export interface AgentRef {
  id: string;
  canonical_handle: string;
}

export interface Agent extends Omit<AgentRecord, 'is_online'> {
  is_retired: boolean;
  outgoing_policy: OutgoingPolicy;
  contacts: Map<string, { since: number; favorite: boolean }>;
  blocks: Map<string, { created_at: number }>;
  allowlist: Map<string, { created_at: number }>;
  feed: Feed;
  /** Null while it is off. */
  inbox: Inbox | null;
  /** Whether it was turned off: no claim turns it on again. */
  has_deleted_inbox: boolean;
  /** Every lease that the agent ever had, by id. */
  leases: Map<string, InboxItem>;
  last_fencing_token: number;
  webhooks: Map<string, Webhook>;
}

export interface Inbox {
  types: readonly string[];
  lease_seconds: number;
  max_attempts: number;
  ordered_by_thread: boolean;
  /** The number of the last event that was copied. */
  position: number;
  /** In the order of their events. */
  items: InboxItem[];
  /** The last claim of each instance, by its name. */
  consumers: Map<string, number>;
  created_at: number;
  updated_at: number;
}

export interface InboxItem {
  /** The number of the event in the feed. */
  number: number;
  event: StoredEvent;
  /** The sequence of its message; null if it is not about a message. */
  sequence: number | null;
  /** The task of its message, if that belongs to one. */
  task_id: string | null;
  state: 'ready' | 'leased' | 'dead' | 'handled';
  attempts: number;
  fencing_token: number;
  lease_id: string;
  /** The review of its reply, which keeps the lease. */
  review_id: string | null;
  ready_at: number;
  expires_at: number;
  consumer: string | null;
  /** The token that claimed it. */
  token: string;
  reasons: FailedAttempt[];
  updated_at: number;
}

export interface Webhook extends WebhookRecord {
  scopes: ReadonlySet<string>;
  secret: string;
  previous_secret: string | null;
  /** The number of the last event that has a delivery, if it is to have one. */
  position: number;
  /** In the order of their events. */
  deliveries: Delivery[];
  isSending: boolean;
  /** The listener of the feed. */
  onEvent(): void;
}

export interface Delivery extends Omit<WebhookDeliveryRecord, 'id' | 'event_type'> {
  event: StoredEvent;
  number: number;
}

export interface Approval extends Omit<ApprovalRecord, 'agent'> {
  agent: Agent;
  /** Of a review: the call that waits. */
  held?: { key: string | undefined; request: string; run(reviewed: readonly string[]): Promise<object> };
}

export interface StoredEvent extends EventColumns {
  thread_id: string | null;
}

export interface Feed {
  /** The events that are kept. The first one has the number `removed + 1`. */
  events: StoredEvent[];
  removed: number;
  /** The acknowledged position; null if nothing was acknowledged. */
  acknowledged: number | null;
  /** Called after each new event. */
  listeners: Set<() => void>;
}

/** Its attachments are the stored records, which change with a scan. */
export type Message = MessageColumns;

export interface Thread extends Omit<ThreadColumns, 'members' | 'last_sequence' | 'unread_count'> {
  members: ReceiptColumns[];
  messages: Message[];
  /** Grows with each change: the order of the list. */
  activity: number;
}

export interface Task extends TaskColumns {
  /** Of the asking message. */
  sequence: number;
  lease_token: number | null;
  ended_at: number | null;
  /** The delivery of the asking message when the task was canceled. */
  ended_delivery: TaskDelivery | null;
  messages: { message: Message; artifact: boolean; data: unknown }[];
  /** Grows with each change: the order of the list. */
  activity: number;
}

export interface Attachment {
  record: AttachmentRecord;
  uploader_id: string;
  message: Message | null;
  bytes: Buffer;
}

export interface ContactRequest {
  request_id: string;
  from_id: string;
  to_id: string;
  message: string | null;
  status: 'pending' | 'approved' | 'rejected' | 'withdrawn';
  /** Whether the recipient knows of it: not while it blocks the sender. */
  is_announced: boolean;
  created_at: number;
}

export interface Token {
  agent_id: string;
  scopes: ReadonlySet<string>;
  expires_at: number;
}

export interface ClientCredential {
  client_id: string;
  client_secret: string;
  agent_id: string;
  scopes: readonly string[];
}
