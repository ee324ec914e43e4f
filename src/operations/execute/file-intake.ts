import { randomBytes } from 'node:crypto';
import {
  attachmentTooLarge,
  maxAttachmentBytes,
  maxPreviewBytes,
  type StoredFile,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { toSafeFileName } from '../../../packages/core/src/domain/attachments/file-names.ts';
import {
  detectFileType,
  isReadable,
  requireAcceptedType,
} from '../../../packages/core/src/domain/attachments/file-types.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';
import { type FileFacts, createFileInspector } from '../../platform/blobs/inspect-file.ts';
import type { UploadLimit } from './upload-limit.ts';

/** A file of a request whose bytes can be read. */
export interface OpenedFile {
  /** As the uploader names it. */
  filename: string;
  /** As the uploader declares it, if it does. */
  content_type: string | undefined;
  /** Ends only when the rest of the request is valid too; throws otherwise. */
  bytes: AsyncIterable<Uint8Array>;
}

/** A file of a call. Nothing of it is read before it is opened. */
export interface IncomingFile {
  open(blobs: Pick<BlobStore, 'read'>): Promise<OpenedFile>;
}

/** A file whose bytes are stored, and which has no row in the database yet. */
export interface ReceivedFile {
  file: StoredFile;
  /** Removes the bytes. Never throws: the sweep removes what is left. */
  discard(): Promise<void>;
}

/**
 * Stores the file of a call.
 * @throws {DomainError} ATTACHMENT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, VALIDATION_ERROR; RATE_LIMITED and UNAVAILABLE when the agent or
 * the process receives too many files. Nothing of a refused file is kept.
 */
export type Intake = (incoming: IncomingFile, agentId: string) => Promise<ReceivedFile>;

export interface IntakeParts {
  blobs: BlobStore;
  /** The accepted media types; null accepts all. */
  types: readonly string[] | null;
  uploads: UploadLimit;
  log(message: string, error: unknown): void;
}

/**
 * Receives every file: its bytes are counted, digested, checked and stored in one pass. Only the beginning of a file is held in
 * memory.
 */
export function createIntake({ blobs, types, uploads, log }: IntakeParts): Intake {
  async function receive(incoming: IncomingFile): Promise<ReceivedFile> {
    const { filename: declaredName, content_type: declaredType, bytes } = await incoming.open(blobs);
    const filename = toSafeFileName(declaredName);
    const storage_key = randomBytes(16).toString('hex');
    const inspector = createFileInspector();
    let file: StoredFile | undefined;
    let failure: unknown;

    /** A refusal after the last byte is early enough: the store keeps nothing before the source ends. */
    async function* checked(): AsyncGenerator<Uint8Array> {
      try {
        let size = 0;
        for await (const chunk of bytes) {
          size += chunk.byteLength;
          if (size > maxAttachmentBytes) throw attachmentTooLarge();
          inspector.take(chunk);
          yield chunk;
        }
        file = checkFile(await inspector.facts());
      } catch (error) {
        failure = error;
        throw error;
      }
    }
    function checkFile(facts: FileFacts): StoredFile {
      const { size_bytes, sha256 } = facts;
      if (size_bytes === 0) throw wrongField('file', 'is empty');
      const content_type = detectFileType(facts, declaredType, filename);
      requireAcceptedType(types, content_type);
      const preview = isReadable(facts, content_type) ? previewOf(facts) : null;
      return { storage_key, filename, content_type, size_bytes, sha256, preview };
    }

    try {
      await blobs.write(storage_key, checked());
    } catch (error) {
      if (failure instanceof DomainError) throw failure;
      throw new DomainError('UNAVAILABLE', 'The file could not be stored. Try again.', {
        cause: failure ?? error,
        retry_after: 5,
      });
    }
    if (!file) throw new Error('the store did not read the source to its end');
    return {
      file,
      discard: () =>
        blobs.remove(storage_key).catch((error: unknown) => log('file bytes not removed', error)),
    };
  }

  return (incoming, agentId) => uploads.run(agentId, () => receive(incoming));
}

/** Without a character that is cut at the end. */
function previewOf({ beginning, encoding }: FileFacts): string {
  return new TextDecoder(encoding).decode(beginning.subarray(0, maxPreviewBytes), { stream: true });
}
