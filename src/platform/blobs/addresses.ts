/** What a signed download URL serves. */
export interface Download {
  key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
}

/** What a signed upload URL accepts. */
export interface Upload {
  key: string;
  /** Its uploads count as those of this agent. */
  agent_id: string;
  content_type: string;
  size_bytes: number;
}

/** A request that anybody with the URL can send until it expires. */
export interface UploadAddress {
  url: string;
  /** Has to be sent unchanged. */
  headers: Record<string, string>;
}

/** Signed URLs of stored bytes, each for one purpose and a short time. They need no token. */
export interface BlobAddresses {
  /** @param expires_at milliseconds since the epoch. */
  download(what: Download, expires_at: number): Promise<string>;
  /**
   * Accepts a PUT of exactly these bytes, repeatedly until it expires.
   * @param expires_at milliseconds since the epoch.
   */
  upload(what: Upload, expires_at: number): Promise<UploadAddress>;
}
