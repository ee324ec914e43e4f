import { z } from 'zod';
import { timestamp } from '../../../packages/core/src/records/agent.ts';
import { signDownloadUrl } from '../../services/attachments/attachments.ts';
import { defineOperation } from '../define.ts';
import { exampleAttachment } from '../examples/attachments.ts';
import { attachmentId } from '../../../packages/core/src/inputs/fields.ts';

export const download = z.object({
  url: z
    .url()
    .describe('URL of the content. It works without a token and supports Range requests. Keep it secret.'),
  expires_at: timestamp.describe('When the URL expires, five minutes after it was created.'),
});

export const exampleDownload = {
  url: 'http://localhost:3000/blobs/eyJtZXRob2QiOiJHRVQiLC4uLn0.c2lnbmF0dXJlLi4u',
  expires_at: 1_794_000_360_000,
};

const downloadErrors = ['ATTACHMENT_NOT_READY', 'ATTACHMENT_INFECTED'] as const;

export const downloadAttachmentOperation = defineOperation({
  name: 'download_attachment',
  summary: 'Download a file: redirects to a URL that is valid for five minutes',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({ attachment_id: attachmentId }),
  output: download,
  run: (work, { attachment_id }) => signDownloadUrl(work, attachment_id),
  rest: {
    method: 'GET',
    path: '/attachments/{attachment_id}/content',
    status: 302,
    redirect: ({ url }) => url,
  },
  errors: ['ATTACHMENT_NOT_FOUND', ...downloadErrors],
  example: { input: { attachment_id: exampleAttachment.id }, output: exampleDownload },
});
