/** Limits of the contract, section 3. */
export const maxAttachmentBytes = 10 * 1024 * 1024;
export const maxAttachments = 5;

/** How long an upload waits for its message, in milliseconds. */
export const unsentLifetimeMs = 24 * 3_600_000;

/** How long a signed address is good, in milliseconds: to fetch content, and to bring it. */
export const downloadLifetimeMs = 5 * 60_000;
export const uploadLifetimeMs = 15 * 60_000;

/** How much of a text is shown in tool results, in bytes. */
export const maxPreviewBytes = 2_048;

/** The job that looks at uploaded bytes. */
export const scanJob = 'scan-attachments';

export const scanStatuses = ['pending', 'clean', 'infected', 'failed'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

/** Signed addresses of stored bytes; they need no token. Times in milliseconds. */
export interface FileAddresses {
  download(
    what: Pick<StoredFile, 'filename' | 'content_type' | 'size_bytes'> & { key: string },
    expires_at: number,
  ): Promise<string>;
  /** Takes a PUT of exactly these bytes, with these headers. */
  upload(
    what: Pick<StoredFile, 'content_type' | 'size_bytes'> & { key: string },
    expires_at: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
}

/** What is known of a file whose bytes are stored. */
export interface StoredFile {
  /** Where its bytes lie in the blob store. */
  storage_key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** How a text begins; null for anything else. */
  preview: string | null;
}
