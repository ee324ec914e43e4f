import type { Bus } from '../platform/bus/bus.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { RealtimeParts } from '../realtime/create.ts';
import type { McpParts } from '../transports/mcp/parts.ts';
import type { AppParts } from '../transports/http/app.ts';
import type { AuthorizationRequests } from '../transports/http/authorization-requests.ts';
import type { OAuthStorage } from '../services/auth/oauth-storage.ts';
import type { ProviderParts } from '../transports/oauth/provider.ts';
import type { WebSocketLimits } from '../transports/ws/limits.ts';

/** What tests change in the core of a process. Production changes nothing. */
export interface CoreOverrides {
  logger?: Logger;
  /** Wraps the bus, for example to drop messages. */
  wrapBus?(bus: Bus): Bus;
}

type RealtimeLimits = 'intervals' | 'linger_ms' | 'presence_intervals' | 'streams_per_agent';
type McpOptions =
  | 'additions'
  | 'approval_ms'
  | 'catalogue'
  | 'execute'
  | 'heartbeat_ms'
  | 'page_ms'
  | 'progress_ms';

/** What tests change in an API process. Production changes nothing. */
export interface ApiOverrides {
  realtime?: Partial<Pick<RealtimeParts, RealtimeLimits>>;
  /** False: deliveries are not recorded, so no feed gets `message.delivered`. */
  hasReceipts?: boolean;
  /** How often the process announces that it has readers, in milliseconds. */
  announceMs?: number;
  mcp?: Partial<Pick<McpParts, McpOptions>>;
  webSocketLimits?: Partial<WebSocketLimits>;
  /** How long a stream lasts that says that a page is open, in milliseconds. */
  leasedStreamMs?: number;
  oauthStorage?: Partial<OAuthStorage>;
  readDocument?: ProviderParts['readDocument'];
  /** Runs before the console. */
  inspectRequests?(requests: AuthorizationRequests): AppParts['handlers'][number];
  /** The clock that decides whether a token has expired; milliseconds since the epoch. */
  now?(): number;
}
