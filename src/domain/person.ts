/** A person who is signed in to the console. */
export interface Person {
  account_id: string;
  username: string;
  /** base64url SHA-256 of the session's token. */
  session_id: string;
}
