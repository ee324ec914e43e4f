import type { Context } from 'koa';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { TokenResource } from '../../services/auth/tokens.ts';

/** An OAuth authorization request, for the consent page. All texts come from the client and are untrusted. */
export interface AuthorizationRequest {
  uid: string;
  client: {
    client_id: string;
    /** As the client calls itself; not verified. */
    name: string | null;
    /** The client's home page (https). Show it, never fetch it. */
    uri: string | null;
    /** Host of the redirect URI: `host`, `host:port`, or the scheme of a desktop client with its colon. */
    redirect_host: string;
    /** Registered dynamically, described by a metadata document at its client_id, a page of this service, or its command line `am`. */
    kind: 'registered' | 'document' | 'own' | 'command-line';
    /** Whether the redirect goes to a program on the person's own machine. */
    loopback: boolean;
    /** Whether the redirect uses an app scheme that the service does not know. By approving, the person allows it. */
    unknown_scheme: boolean;
  };
  scopes: Scope[];
  /** The resource of the request; the grant is valid for all three interfaces. */
  audience: TokenResource;
  resource: string;
}

/** How the request of this path ended, for the person who decided it: where its browser continues, or what was decided. */
export type RequestOutcome =
  | { to: string }
  | {
      app: string;
      /** The agent as which the app may act; null if the person denied the request. */
      handle: string | null;
    };

/** The authorization server, as the consent page uses it. */
export interface AuthorizationRequests {
  /** The request of this browser, by the `uid` in the path; undefined when it is finished, unknown, or of another browser. */
  find(ctx: Context): Promise<AuthorizationRequest | undefined>;
  /**
   * The outcome of a request that this person decided in this browser; undefined when there is none. A form that is sent twice shows
   * it.
   */
  outcome(ctx: Context, person: Person): Promise<RequestOutcome | undefined>;
  /**
   * Grants the scopes and redirects the browser to the client.
   * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent; NOT_FOUND when the request is finished
   */
  approve(
    ctx: Context,
    request: AuthorizationRequest,
    person: Person,
    agent: { id: string; canonical_handle: string },
  ): Promise<void>;
  /**
   * Redirects the browser to the client with `access_denied`.
   * @throws {DomainError} NOT_FOUND when the request is finished
   */
  deny(ctx: Context, request: AuthorizationRequest, person: Person): Promise<void>;
}

/** Path of the API reference. */
export const referencePath = '/docs';

/**
 * The public client with which a person signs in on the API reference. It is part of the service and not stored: its only redirect
 * address follows from PUBLIC_URL.
 */
export const referenceClient = {
  client_id: 'api-reference',
  client_name: 'API reference',
  application_type: 'web',
  response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
} as const;

/**
 * The public client of `am`. It is not stored either. Its redirects go to a program on the person's machine, at any port (RFC 8252, section
 * 7.3), so any program there can use it.
 */
export const commandLineClient = {
  ...referenceClient,
  client_id: 'am',
  client_name: 'am',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback'],
} as const;

/** Whether a client is part of the service. */
export function isOwnClient(client_id: string): boolean {
  return client_id === referenceClient.client_id || client_id === commandLineClient.client_id;
}
