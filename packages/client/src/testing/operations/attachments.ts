import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  attachmentTooLarge,
  downloadLifetimeMs,
  maxAttachmentBytes,
  unsentLifetimeMs,
  uploadLifetimeMs,
} from '../../../../core/src/domain/attachments/attachments.ts';
import { toSafeFileName } from '../../../../core/src/domain/attachments/file-names.ts';
import { normalizeMediaType } from '../../../../core/src/domain/attachments/file-types.ts';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import { requestUploadInput } from '../../../../core/src/inputs/attachments.ts';
import { attachmentId } from '../../../../core/src/inputs/fields.ts';
import { presentAttachment } from '../../../../core/src/records/attachment.ts';
import { emit } from '../core/feed.ts';
import type { Attachment } from '../core/records.ts';
import { type Call, defineHandler, type State, storeFor } from '../core/state.ts';

/** A direct upload that is not complete. */
interface Upload {
  uploader_id: string;
  filename: string;
  content_type: string;
  size: number;
  sha256: string | undefined;
  bytes: Buffer | null;
}

export const uploadsOf = storeFor<Upload>();

/** A file with this text counts as malware: the test file of the scanners (EICAR). */
const malware = 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE';

/** A file as a call brings it. */
export interface IncomingFile {
  filename: string;
  content_type: string;
  bytes: Buffer;
}

function addAttachment({ state, me }: Call, file: IncomingFile, id = state.newId('attachment')): Attachment {
  const { filename, bytes } = file;
  const content_type = normalizeMediaType(file.content_type || 'application/octet-stream');
  if (bytes.length === 0) throw wrongField('file', 'is empty');
  if (bytes.length > maxAttachmentBytes) throw attachmentTooLarge();
  const created_at = state.clock.now();
  const attachment: Attachment = {
    record: {
      id,
      filename: toSafeFileName(filename),
      content_type,
      size_bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      scan_status: 'pending',
      scanned_by: null,
      created_at,
      expires_at: created_at + unsentLifetimeMs,
    },
    uploader_id: me.id,
    message: null,
    bytes,
  };
  state.attachments.set(id, attachment);
  // After the answer, as in the service.
  setImmediate(() => scan(state, attachment));
  return attachment;
}

function scan(state: State, attachment: Attachment): void {
  const { record, bytes, uploader_id, message } = attachment;
  record.scan_status = bytes.includes(malware) ? 'infected' : 'clean';
  record.scanned_by = 'fake';
  const { id: attachment_id, scan_status, filename, content_type, size_bytes } = record;
  const thread_id = message?.thread_id ?? null;
  const members = thread_id === null ? [] : (state.threads.get(thread_id)?.members ?? []);
  const place = { message_id: message?.id ?? null, thread_id };
  emit(state, {
    type: 'attachment.scanned',
    thread_id,
    recipients: [uploader_id, ...members.map(({ id }) => id)],
    data: { attachment_id, scan_status, filename, content_type, size_bytes, ...place },
  });
}

function isExpired(state: State, { record }: Attachment): boolean {
  return record.expires_at !== null && record.expires_at <= state.clock.now();
}

function notFound(id?: string): DomainError {
  const message =
    id === undefined
      ? 'No such attachment, or it is hidden from you.'
      : `No such attachment: ${id.slice(0, 80)}`;
  return new DomainError('ATTACHMENT_NOT_FOUND', message);
}

/** The files that a message sends. @throws {DomainError} as the service */
export function claimFiles({ state, me }: Call, ids: readonly string[]): Attachment[] {
  return ids.map((id) => {
    const file = state.attachments.get(id);
    if (file?.uploader_id !== me.id || isExpired(state, file)) throw notFound(id);
    if (file.message)
      throw new DomainError(
        'ATTACHMENT_ALREADY_SENT',
        `This attachment was already sent; upload the file again: ${id}`,
      );
    if (file.record.scan_status === 'infected')
      throw new DomainError('ATTACHMENT_INFECTED', `This file was found unsafe and was removed: ${id}`);
    return file;
  });
}

function requireAttachment({ state, me }: Call, id: string): Attachment {
  const file = state.attachments.get(id);
  const thread = file?.message && state.threads.get(file.message.thread_id);
  const isSeen = file?.uploader_id === me.id || thread?.members.some((member) => member.id === me.id);
  if (!file || !isSeen || isExpired(state, file)) throw notFound();
  return file;
}

function requireClean({ record }: Attachment): void {
  if (record.scan_status === 'infected')
    throw new DomainError('ATTACHMENT_INFECTED', 'This file was found unsafe and was removed.');
  if (record.scan_status === 'clean') return;
  const message = 'This file is not scanned yet; retry in a moment.';
  throw new DomainError('ATTACHMENT_NOT_READY', message, { retry_after: 1 });
}

function completeUpload(call: Call, id: string): Attachment {
  const upload = uploadsOf(call.state).get(id);
  if (upload?.uploader_id !== call.me.id) {
    const known = call.state.attachments.get(id);
    if (known?.uploader_id === call.me.id) return known;
    throw notFound();
  }
  const { bytes, size, sha256, filename, content_type } = upload;
  if (!bytes) {
    const message = 'Nothing was uploaded yet. Send the bytes to the upload URL first.';
    throw new DomainError('ATTACHMENT_NOT_READY', message, { retry_after: 1 });
  }
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (bytes.length !== size) throw wrongField('size', `expected ${size} bytes, received ${bytes.length}`);
  if (sha256 !== undefined && sha256 !== digest)
    throw wrongField('sha256', `expected ${sha256}, received ${digest}`);
  uploadsOf(call.state).delete(id);
  return addAttachment(call, { filename, content_type, bytes }, id);
}

const refInput = z.strictObject({ attachment_id: attachmentId });

const fileInput = z.strictObject({ file: z.custom<IncomingFile>((value) => value instanceof Object) });

export const attachmentHandlers = {
  create_attachment: defineHandler(fileInput, (call, { file }) =>
    presentAttachment(addAttachment(call, file).record),
  ),
  request_upload: defineHandler(requestUploadInput, ({ state, me }, { content_type: type, ...input }) => {
    if (input.size > maxAttachmentBytes) throw attachmentTooLarge();
    const content_type = normalizeMediaType(type);
    const attachment_id = state.newId('attachment');
    const { filename, size, sha256 } = input;
    uploadsOf(state).set(attachment_id, {
      uploader_id: me.id,
      filename,
      content_type,
      size,
      sha256,
      bytes: null,
    });
    const expires_at = state.clock.now() + uploadLifetimeMs;
    const headers = { 'Content-Type': content_type, 'Content-Length': String(size) };
    const url = `${state.url}/blobs/${attachment_id}`;
    return { attachment_id, upload: { method: 'PUT', url, headers, expires_at } };
  }),
  complete_upload: defineHandler(refInput, (call, { attachment_id }) =>
    presentAttachment(completeUpload(call, attachment_id).record),
  ),
  get_attachment: defineHandler(refInput, (call, { attachment_id }) =>
    presentAttachment(requireAttachment(call, attachment_id).record),
  ),
  download_attachment: defineHandler(refInput, (call, { attachment_id }) => {
    requireClean(requireAttachment(call, attachment_id));
    const expires_at = call.state.clock.now() + downloadLifetimeMs;
    return { url: `${call.state.url}/blobs/${attachment_id}?expires=${expires_at}`, expires_at };
  }),
};
