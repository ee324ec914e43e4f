import type { Context } from 'koa';
import type { Person } from '../../domain/auth/actor.ts';
import type { Scope } from '../../domain/auth/scopes.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';

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
    /** Registered dynamically, described by a metadata document at its client_id, or part of this service. */
    kind: 'registered' | 'document' | 'own';
    /** Whether the redirect goes to a program on the person's own machine. */
    loopback: boolean;
  };
  /** Origin of the redirect URI, or its `scheme:`, for the form-action of the page. */
  redirect_target: string;
  scopes: Scope[];
  /** The resource of the request; the grant is valid for all three. */
  audience: TokenAudience;
  resource: string;
}

/** The authorization server, as the consent page uses it. */
export interface AuthorizationRequests {
  /** The request of this browser, by the `uid` in the path; undefined when it is finished, unknown, or of another browser. */
  find(ctx: Context): Promise<AuthorizationRequest | undefined>;
  /**
   * Grants the scopes and redirects the browser to the client.
   * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent; NOT_FOUND when the request is finished
   */
  approve(ctx: Context, request: AuthorizationRequest, person: Person, agent: { id: string }): Promise<void>;
  /**
   * Redirects the browser to the client with `access_denied`.
   * @throws {DomainError} NOT_FOUND when the request is finished
   */
  deny(ctx: Context): Promise<void>;
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

/** Whether a client is part of the service. */
export function isOwnClient(client_id: string): boolean {
  return client_id === referenceClient.client_id;
}
