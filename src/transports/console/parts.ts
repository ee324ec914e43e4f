import type { FileAddresses } from '../../domain/attachments/attachments.ts';
import type { AuthorizationRequests } from '../http/authorization-requests.ts';
import type { Operation } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { ExternalProvider } from '../../services/people/external-identities.ts';
import type { Revocation } from '../../services/auth/tokens.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { BrowserSessions } from './browser-sessions.ts';

/** What the pages are made of, handed to every group of routes. */
export interface PageParts {
  unitOfWork: UnitOfWork;
  /** The catalogue and the one door to it: for whatever a person does as one of their agents. */
  execute: Execute;
  catalogue: readonly Operation[];
  limits: RateLimits;
  /** Tells every process of tokens that ended, once that is committed. Never throws. */
  publishRevocations(ended: readonly Revocation[]): Promise<void>;
  /** Where stored bytes can be had for a short time. */
  addresses: Pick<FileAddresses, 'download'>;
  requests: AuthorizationRequests;
  sessions: BrowserSessions;
  settings: ConsoleSettings;
  /** Sign-in through an OpenID Connect provider, where there is one. */
  external: ExternalSignIn | undefined;
}

/** Another place that says who somebody is. */
export interface ExternalSignIn {
  /** As people know it. */
  name: string;
  provider: ExternalProvider;
}

export interface ConsoleSettings {
  /** PUBLIC_URL, without a trailing slash. */
  public_url: string;
  signup: 'open' | 'invite' | 'closed';
  /** How long the archive of an export is kept. */
  export_days: number;
}
