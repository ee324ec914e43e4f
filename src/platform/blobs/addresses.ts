/** What an address shows to whoever opens it. */
export interface Download {
  key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
}

/** What an address takes, and nothing else. */
export interface Upload {
  key: string;
  content_type: string;
  size_bytes: number;
}

/** A request that may be sent as it is, by whoever has it, until it expires. */
export interface UploadAddress {
  url: string;
  /** Must be sent exactly so. */
  headers: Record<string, string>;
}

/** Signed addresses of stored bytes, good for one purpose and a short time. They need no token. */
export interface BlobAddresses {
  /** @param expires_at milliseconds. */
  download(what: Download, expires_at: number): Promise<string>;
  /** Takes a PUT of exactly these bytes. It can be repeated until it expires. @param expires_at milliseconds. */
  upload(what: Upload, expires_at: number): Promise<UploadAddress>;
}
