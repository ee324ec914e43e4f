/** What the bridge signs in with. */
export interface Credential {
  /** The access token at hand; undefined when there is none yet. */
  token(): Promise<string | undefined>;
  /**
   * Another one than the one that was refused, or the first.
   * @throws {SignInError} when there is none to be had; faults of the network as they are.
   */
  renew(refused: string | undefined): Promise<string>;
  /** Told that the service took a token. */
  onAccepted(): void;
}
