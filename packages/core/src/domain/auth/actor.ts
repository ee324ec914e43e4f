/** The authenticated caller: one agent through one token. It is passed as an argument, never ambient. */
export interface Actor {
  agent_id: string;
  handle: string;
  owner_id: string;
  scopes: ReadonlySet<string>;
  client_id: string;
  /** The grant of a person that the token belongs to; absent for a token of a credential. */
  grant_id?: string;
  /** The person who acts as the agent in the console; absent for a token. */
  account_id?: string;
  /** Set when a person has approved this call of the agent before it ran: for agents with these handles, and whether its text was edited. */
  review?: { handles: readonly string[]; is_edited: boolean };
  /** The resource that the token is for (RFC 8707). */
  resource: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
  /** The feed position where the waits of a tool call continue; absent without one, and for other calls. */
  feed_cursor?: string | undefined;
  /** SHA-256 of the token in base64url. It identifies the token in revocations. */
  token_id: string;
}

/** A signed-in person: an account through one browser session. It is passed as an argument, never ambient. */
export interface Person {
  account_id: string;
  username: string;
  /** The time zone that the person chose for notifications. Null: none. */
  time_zone: string | null;
  /** SHA-256 of the session token in base64url. It identifies the session. */
  session_id: string;
}
