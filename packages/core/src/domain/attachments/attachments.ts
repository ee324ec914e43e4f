import { DomainError } from '../errors.ts';

export const maxAttachmentBytes = 10 * 1024 * 1024;
export const maxAttachments = 5;

/** Returns the error for a larger file. */
export function attachmentTooLarge(): DomainError {
  return new DomainError('ATTACHMENT_TOO_LARGE', 'The file is too large: at most 10 MiB (10,485,760 bytes).');
}

/** An upload without a message expires after this time, in milliseconds. */
export const unsentLifetimeMs = 24 * 3_600_000;

/** The lifetime of signed URLs for downloads and uploads, in milliseconds. */
export const downloadLifetimeMs = 5 * 60_000;
export const uploadLifetimeMs = 15 * 60_000;

/** Size of the text preview in tool results, in bytes. */
export const maxPreviewBytes = 2_048;

/** The name of the job that scans an upload. */
export const scanJob = 'scan-attachments';

export const scanStatuses = ['pending', 'clean', 'infected', 'failed'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

/** Signed URLs of stored files. They need no token. Times are milliseconds since the epoch. */
export interface FileAddresses {
  download(
    what: Pick<StoredFile, 'filename' | 'content_type' | 'size_bytes'> & { key: string },
    expires_at: number,
  ): Promise<string>;
  /** Accepts a PUT of exactly these bytes with exactly these headers. */
  upload(
    what: Pick<StoredFile, 'content_type' | 'size_bytes'> & { key: string },
    expires_at: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
}

/** A file whose bytes are stored. */
export interface StoredFile {
  /** Its key in the blob store. */
  storage_key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** The beginning of a text; null for any other file. */
  preview: string | null;
}
