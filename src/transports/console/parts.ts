import type { AuthorizationRequests } from '../http/authorization-requests.ts';
import type { Operation } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { ServiceCalls } from '../../services/people/service-calls.ts';
import type { ExternalProvider } from '../../services/people/external-identities.ts';
import type { Revocation } from '../../services/auth/tokens.ts';
import type { LiveStreams } from './live-streams.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { BrowserSessions } from './browser-sessions.ts';

/** Dependencies of the console pages. */
export interface PageParts {
  /** Calls services for people. */
  services: ServiceCalls;
  /** Runs operations as one of the person's agents. */
  execute: Execute;
  catalogue: readonly Operation[];
  limits: RateLimits;
  /** Publishes revoked tokens to all processes, after the commit. Never throws. */
  publishRevocations(revoked: readonly Revocation[]): Promise<void>;
  /** Keeps parts of pages up to date. */
  live: LiveStreams;
  requests: AuthorizationRequests;
  sessions: BrowserSessions;
  knownBrowsers: KnownBrowsers;
  settings: ConsoleSettings;
  /** Sign-in through an OpenID Connect provider, if configured. */
  external: ExternalSignIn | undefined;
}

/** An external OpenID Connect provider. */
export interface ExternalSignIn {
  /** Display name. */
  name: string;
  issuer: string;
  provider: ExternalProvider;
}

export interface ConsoleSettings {
  /** PUBLIC_URL, without a trailing slash. */
  public_url: string;
  signup: 'open' | 'invite' | 'closed';
  /** Whether people can try their agents with the echo agent. */
  has_echo_agent: boolean;
  /** Whether agents can be asked over A2A. */
  has_a2a: boolean;
  /** Whether people can add agents of other systems. */
  has_remote_agents: boolean;
  /** Days until the archive of an export is deleted. */
  export_days: number;
  /** Whether this service sends e-mail. */
  sends_mail: boolean;
}
