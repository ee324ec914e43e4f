/** What the fake service stores. Fields have the names of the public records. */

export interface AgentRef {
  id: string;
  canonical_handle: string;
}

export interface AgentProfile {
  display_name: string;
  description: string;
  visibility: 'private' | 'unlisted' | 'public';
  inbound_policy: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open';
  card_body: string;
  skills: { name: string; description: string }[];
  can_initiate_threads: boolean;
  paused: boolean;
}

export interface Agent extends AgentRef, AgentProfile {
  created_at: number;
  updated_at: number;
  is_retired: boolean;
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
  state: 'ready' | 'leased' | 'dead' | 'handled';
  attempts: number;
  fencing_token: number;
  lease_id: string;
  ready_at: number;
  expires_at: number;
  consumer: string | null;
  /** The token that claimed it. */
  token: string;
  reasons: FailedAttempt[];
  updated_at: number;
}

export interface FailedAttempt {
  attempt: number;
  outcome: 'released' | 'expired';
  reason: string | null;
  consumer: string | null;
  ended_at: number;
}

/** A request that the fake service sends to a webhook. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Receives the requests of webhooks in place of their addresses; returns the status of the response. */
export type WebhookReceiver = (request: WebhookRequest) => number | Promise<number>;

export interface Webhook {
  id: string;
  url: string;
  description: string;
  /** Null for every type that the scopes allow. */
  event_types: readonly string[] | null;
  scopes: ReadonlySet<string>;
  only_when_offline: boolean;
  enabled: boolean;
  disabled_reason: 'by_request' | 'gone' | 'failing' | null;
  disabled_at: number | null;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: number | null;
  /** The number of the last event that has a delivery, if it is to have one. */
  position: number;
  /** In the order of their events. */
  deliveries: Delivery[];
  isSending: boolean;
  /** The listener of the feed. */
  onEvent(): void;
  created_at: number;
  updated_at: number;
}

export type ApprovalAction = 'request_contact' | 'remove_contact';
export type ApprovalDecision = 'approved' | 'denied';

export interface Approval {
  id: string;
  agent: Agent;
  action: ApprovalAction;
  target: string;
  message: string;
  client_name: string;
  state: 'pending' | ApprovalDecision | 'expired';
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_via: 'page' | 'agent' | null;
  decided_by: string | null;
  decided_by_agent: string | null;
  used_at: number | null;
}

export interface Delivery {
  event: StoredEvent;
  number: number;
  state: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  next_at: number | null;
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  last_response: string | null;
  created_at: number;
}

export interface StoredEvent {
  type: string;
  id: string;
  created_at: number;
  thread_id: string | null;
  /** The data as it is now: a file in a message can be scanned meanwhile. */
  data(): object;
  message: Message | null;
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

export interface Message {
  id: string;
  thread_id: string;
  sender: AgentRef;
  content: string;
  content_type: string;
  created_at: number;
  sequence: number;
  attachments: Attachment[];
  reply_to: string | null;
  metadata: Record<string, unknown>;
  written_by: 'agent';
}

export interface Member extends AgentRef {
  read: number;
  delivered: number;
  handled: number;
}

export interface Thread {
  id: string;
  subject: string | null;
  status: 'active' | 'closed' | 'archived';
  created_by: AgentRef;
  metadata: Record<string, unknown>;
  members: Member[];
  last_message_at: number | null;
  created_at: number;
  updated_at: number;
  messages: Message[];
  /** Grows with each change: the order of the list. */
  activity: number;
}

export interface Attachment {
  record: {
    id: string;
    filename: string;
    content_type: string;
    size_bytes: number;
    sha256: string;
    scan_status: 'pending' | 'clean' | 'infected';
    scanned_by: string | null;
    created_at: number;
    expires_at: number | null;
  };
  uploader_id: string;
  message: Message | null;
  bytes: Buffer;
}

/** A direct upload that is not complete. */
export interface Upload {
  uploader_id: string;
  filename: string;
  content_type: string;
  size: number;
  sha256: string | null;
  bytes: Buffer | null;
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
