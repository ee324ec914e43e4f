import type { AttachmentRecord } from '../../../packages/core/src/records/attachment.ts';

/** Uploaded, not scanned yet. */
export const exampleUpload: AttachmentRecord = {
  id: 'att_01K9ZX5K2M7N3P8Q4R9S5T0V6W',
  filename: 'order-1042.txt',
  content_type: 'text/plain',
  size_bytes: 29,
  sha256: 'd33e4a3f5a7a86d9c1b0f4e2d6c8b7a99f8e7d6c5b4a39281706f5e4d3c2b1a0',
  scan_status: 'pending',
  scanned_by: null,
  created_at: 1_793_999_990_000,
  expires_at: 1_794_086_390_000,
};

/** The same file, sent and clean. */
export const exampleAttachment: AttachmentRecord = {
  ...exampleUpload,
  scan_status: 'clean',
  scanned_by: 'zip-check',
  expires_at: null,
};

/** Error codes of every upload operation. */
export const uploadErrors = ['ATTACHMENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
