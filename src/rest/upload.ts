import type { Context } from 'koa';
import { largestAttachment } from '../domain/attachments.ts';
import { filePart } from '../http/multipart.ts';
import type { IncomingFile } from '../operations/intake.ts';

/** The input of an operation whose body is a file. Nothing is read before the operation opens it. */
export function uploadInput(ctx: Context, field: string, idle_ms: number): Record<string, IncomingFile> {
  return { [field]: { open: () => filePart(ctx, field, { max_bytes: largestAttachment, idle_ms }) } };
}
