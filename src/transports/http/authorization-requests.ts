import type { Context } from 'koa';
import type { Person } from '../../domain/auth/actor.ts';
import type { Scope } from '../../domain/auth/scopes.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';

/** What a client asks of a person: the content of the consent page. Every text of it comes from the client. */
export interface AuthorizationRequest {
  uid: string;
  client: {
    client_id: string;
    /** As the client calls itself; nobody has checked it. */
    name: string | null;
    /** The client's home page, https; to show, never to fetch. */
    uri: string | null;
    /** Where the answer goes: `host`, `host:port`, or the scheme of a desktop client with its colon. */
    redirect_host: string;
    /** How we know it: it registered itself, or it is a document at its client_id. */
    kind: 'registered' | 'document';
    /** Whether the answer goes to a program on the person's own machine. */
    loopback: boolean;
  };
  /** Origin of the redirect address, or its `scheme:`; for the page's form-action. */
  redirect_target: string;
  scopes: Scope[];
  /** The resource that was asked for first; the grant serves all three. */
  audience: TokenAudience;
  resource: string;
}

/** What the consent page needs of the authorization server. */
export interface AuthorizationRequests {
  /** The request that this browser is at, by the `uid` in the path; undefined when it is over, unknown, or another browser's. */
  find(ctx: Context): Promise<AuthorizationRequest | undefined>;
  /**
   * Grants what is asked for and sends the browser back to the client.
   * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent; NOT_FOUND when the request is over
   */
  approve(ctx: Context, request: AuthorizationRequest, by: Person, agent: { id: string }): Promise<void>;
  /**
   * Sends the browser back to the client with `access_denied`.
   * @throws {DomainError} NOT_FOUND when the request is over
   */
  deny(ctx: Context): Promise<void>;
}
