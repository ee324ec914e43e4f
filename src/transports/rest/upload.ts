import type { Context } from 'koa';
import { maxAttachmentBytes } from '../../domain/attachments/attachments.ts';
import { readFilePart } from '../http/multipart.ts';
import type { IncomingFile } from '../../operations/execute/file-intake.ts';

/** The input of an operation whose body is a file. Nothing is read before the operation opens it. */
export function uploadInput(ctx: Context, field: string, idle_ms: number): Record<string, IncomingFile> {
  return { [field]: { open: () => readFilePart(ctx, field, { max_bytes: maxAttachmentBytes, idle_ms }) } };
}
