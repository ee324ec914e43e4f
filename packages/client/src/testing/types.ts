/** What users of the fake service see. It imports nothing: its declarations are published as they are. */

/** The time of a fake service. It stands still between changes, so that a test gets the same times in every run. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Moves the time forward, in milliseconds: tokens and unsent files can expire. */
  advance(milliseconds: number): void;
}

/** An agent of a fake service, with a token and a client credential. */
export interface FakeAgent {
  id: string;
  handle: string;
  token: string;
  client_id: string;
  client_secret: string;
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

export interface FakeAgentOptions extends Partial<AgentProfile> {
  /** Scopes of the token and the credential; default: those of threads and contacts. */
  scopes?: readonly string[];
}

/** Requests that fail on purpose. */
export interface Failure {
  /** The HTTP status; `disconnect` cuts the connection without an answer. */
  status: 429 | 500 | 503 | 'disconnect';
  /** The number of requests; default 1. */
  times?: number;
  /** Sent as Retry-After, in seconds. */
  retry_after?: number;
}

/** What a tool call of an agent asks its people. */
export interface ApprovalSubject {
  action: 'request_contact' | 'remove_contact';
  /** The handle of the other agent. */
  target: string;
  /** The message to the other agent. */
  message?: string;
}

export type ApprovalDecision = 'approved' | 'denied';

/** Which messages to agents of other owners a person reviews: none; the first one in a thread and each with files; all. */
export type FakeOutgoingPolicy = 'free' | 'review_strangers' | 'review_all';

/** A request that the fake service sends to a webhook. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Receives the requests of webhooks in place of their addresses; returns the status of the response. */
export type WebhookReceiver = (request: WebhookRequest) => number | Promise<number>;

/** A service in memory, with the wire of the real one. */
export interface FakeService {
  /** The address, as `http://127.0.0.1:<port>`. */
  url: string;
  clock: FakeClock;
  /** Adds an agent. It accepts messages from everyone, unless its options say something else. */
  agent(handle: string, options?: FakeAgentOptions): FakeAgent;
  /** Issues another token; `expires_in` is in seconds of the clock. */
  token(handle: string, options?: { scopes?: readonly string[]; expires_in?: number }): string;
  /** Ends tokens: their connections close with 1008, and requests get 401. */
  revoke(token: string): void;
  /** Makes two agents contacts. */
  connect(handle: string, other: string): void;
  /** Requests an approval, as a tool call of the agent that gets APPROVAL_REQUIRED. */
  requestApproval(handle: string, subject: ApprovalSubject): { id: string; expires_at: number };
  /** Decides an approval as a person on its page. Approving runs the call, and the agent gets `approval.resolved`. */
  decideApproval(id: string, decision: ApprovalDecision, reason?: string): Promise<void>;
  /** Lets a person review what an agent sends to agents of other owners: its messages wait as approvals. */
  setOutgoingPolicy(handle: string, policy: FakeOutgoingPolicy): void;
  /** Lets the next requests fail. */
  failNext(failure: Failure): void;
  /** Cuts every connection: WebSockets and waiting requests. */
  disconnect(): void;
  /** Removes the events that are kept for an agent. Readers that have not seen them get a gap. */
  removeEvents(handle: string): void;
  stop(): Promise<void>;
}

export interface FakeServiceOptions {
  /** The time at the start, in milliseconds since the epoch; default: 2026-01-01T00:00:00Z. */
  now?: number;
  /** Receives the requests of webhooks and returns the status of the response; default: they are posted to their addresses. */
  onWebhook?: WebhookReceiver;
}

/** Starts a service in memory on a free port of the loopback interface. */
export declare function fakeService(options?: FakeServiceOptions): Promise<FakeService>;
