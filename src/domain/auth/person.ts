/** Somebody who is signed in: an account, through one browser session. Handed on as an argument, never ambient. */
export interface Person {
  account_id: string;
  username: string;
  /** base64url SHA-256 of the session's token: names the session without being it. */
  session_id: string;
}
