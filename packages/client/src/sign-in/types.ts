/**
 * Gives an access token. It is called before every request, so it should keep its token.
 * @param refused the token that the service refused; without another one, return or throw
 */
export type TokenSource = (refused?: string) => string | Promise<string>;

/** The credentials of a program. Its tokens are fetched, kept, and renewed before they end. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
  /** Default: all scopes of the credential. */
  scopes?: readonly string[];
}

/** A page in a browser without a token: its server gives it one-time tickets. It can receive events only. */
export interface Tickets {
  /** Returns a new ticket for each connection. */
  getTicket: () => Promise<string>;
}

/** How a client signs in: a token, a function that gives one, the credentials of a program, or tickets. */
export type Auth = string | TokenSource | ClientCredentials | Tickets;
