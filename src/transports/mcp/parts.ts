import type { Operation } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { Realtime } from '../../realtime/contract.ts';
import type { ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import type { Approval } from '../../services/approvals/approvals.ts';
import type { ReviewDetails } from '../../services/approvals/decide.ts';
import type { Review } from '../../services/approvals/reviews.ts';
import type { Tokens } from '../../services/auth/tokens.ts';
import type { Additions } from './additions.ts';
import type { SealedBox } from '../../shared/encryption.ts';
import type { EventSubscriptions } from './events/event-subscriptions.ts';
import type { McpBus } from './protocol/bus.ts';
import type { FeedCursors, PlaceStore } from './sessions/places.ts';
import type { SessionStore } from './sessions/sessions.ts';

export interface McpLogger {
  debug(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Dependencies and options of the MCP transport. */
export interface McpParts {
  execute: Execute;
  catalogue: readonly Operation[];
  tokens: Tokens;
  realtime: Realtime;
  sessions: SessionStore & PlaceStore;
  cursors: FeedCursors;
  limits: RateLimits;
  /** Routes client responses and cancellations to the process that waits for them. */
  bus: McpBus;
  /** Without a trailing slash. */
  public_url: string;
  /** Accepted host names, with or without a port, besides the host of `public_url` and loopback names. */
  allowed_hosts: readonly string[];
  logger: McpLogger;
  /** Encrypts what a client keeps for the service. */
  sealedBox: SealedBox;
  /** Runs a function as part of the trace of the client. Absent: requests are not traced. */
  runWithin?: ((traceparent: string | undefined, run: () => Promise<void>) => Promise<void>) | undefined;
  /** Version of this service, as clients see it. */
  version: string;
  /** Reads an approval of an agent. @throws {DomainError} NOT_FOUND, also for another agent's */
  findApproval(agent_id: string, id: string): Promise<Approval>;
  /** Stores the decision of the client's person. @throws {DomainError} INVALID_TRANSITION, and the refusal of the call */
  decideApproval(approval: Approval, decision: ApprovalDecision, details?: ReviewDetails): Promise<void>;
  /** Lists the newest approvals of an agent. */
  listApprovals(agent_id: string): Promise<Approval[]>;
  /** Reads what a person reviews; null once it is decided. */
  readReview(approval: Approval): Promise<Review | null>;
  eventSubscriptions: EventSubscriptions;
  /** Tools, resources and prompts for conformance tests. */
  additions?: Additions | undefined;
  /** Time between heartbeats on an SSE stream, in ms. Default 15,000. */
  heartbeat_ms?: number;
  /** Time between progress notifications of a waiting call, in ms. Default 5,000. */
  progress_ms?: number;
  /** Called when a stream is closed because its client reads too slowly. */
  onSlowReader?: () => void;
  /** Maximum wait for a person's decision, in ms. Default 300,000. */
  approval_ms?: number;
  /** As in `ApproverParts`. */
  page_ms?: number;
}
