/** Who calls: one agent, through one token. Made by the token check, handed on as an argument, never ambient. */
export interface Actor {
  agent_id: string;
  handle: string;
  owner_id: string;
  scopes: ReadonlySet<string>;
  client_id: string;
  /** The person who acts as the agent in the console; absent where a token does. */
  account_id?: string;
  /** The address that the token is for (RFC 8707). */
  resource: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
  /** Hash of the token, base64url; names the token in revocations without being it. */
  token_id: string;
}

/** Somebody who is signed in: an account, through one browser session. Handed on as an argument, never ambient. */
export interface Person {
  account_id: string;
  username: string;
  /** base64url SHA-256 of the session's token: names the session without being it. */
  session_id: string;
}
