import { z } from 'zod';
import { fileName } from './fields.ts';

export const requestUploadInput = z.strictObject({
  filename: fileName,
  content_type: z
    .string()
    .min(1)
    .max(200)
    .describe(
      'The media type, such as application/zip. A file that is declared as an image or PDF must be one.',
    ),
  size: z.int().min(1).describe('The exact size in bytes, at most 10,485,760.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
    .optional()
    .describe('SHA-256 of the content. It is checked when you complete the upload.'),
});
