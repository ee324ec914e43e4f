import { randomBytes } from 'node:crypto';
import {
  maxAttachmentBytes,
  maxPreviewBytes,
  type StoredFile,
} from '../../domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../domain/errors.ts';
import { toSafeFileName } from '../../domain/attachments/file-names.ts';
import { detectFileType, isTextType } from '../../domain/attachments/file-types.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';
import { type FileFacts, createFileInspector } from '../../platform/blobs/inspect-file.ts';
import { attachmentTooLarge } from '../../services/attachments/uploads.ts';
import { createUploadLimit, type UploadLimits } from './upload-limit.ts';

/** A file on its way in. */
export interface OpenedFile {
  /** As the uploader calls it. */
  filename: string;
  /** As the uploader says; undefined when it does not. */
  content_type: string | undefined;
  /** Ends only when everything around the file is as it must be, and throws what is wrong with it. */
  bytes: AsyncIterable<Uint8Array>;
}

/** A file that comes with a call; nothing of it is read before it is opened. */
export interface IncomingFile {
  open(blobs: Pick<BlobStore, 'read'>): Promise<OpenedFile>;
}

/** A file whose bytes are stored, though nothing in the database says so yet. */
export interface ReceivedFile {
  file: StoredFile;
  /** Takes the bytes away again. Never throws: the sweep finds what stays. */
  discard(): Promise<void>;
}

/**
 * Stores the file of a call, unless this agent or this process receives too many already.
 * @throws {DomainError} what is wrong with it; then nothing of it is kept. RATE_LIMITED, UNAVAILABLE
 */
export type Intake = (incoming: IncomingFile, agentId: string) => Promise<ReceivedFile>;

export interface IntakeParts {
  blobs: BlobStore;
  /** The media types that are taken. */
  types: readonly string[];
  limits: UploadLimits;
  log(message: string, error: unknown): void;
}

/**
 * The one way in for files (contract, section 3): through here every byte goes once, is counted, digested and looked at, and is
 * stored; no more than its beginning is ever held in memory.
 */
export function createIntake({ blobs, types, limits, log }: IntakeParts): Intake {
  const uploads = createUploadLimit(limits);

  async function receive(incoming: IncomingFile): Promise<ReceivedFile> {
    const { filename: given, content_type: declared, bytes } = await incoming.open(blobs);
    const filename = toSafeFileName(given);
    const storage_key = randomBytes(16).toString('hex');
    const watch = createFileInspector();
    let file: StoredFile | undefined;
    let fault: unknown;

    /** A refusal at the end comes in time too: nothing is stored before the last byte is taken. */
    async function* checked(): AsyncGenerator<Uint8Array> {
      try {
        let size = 0;
        for await (const chunk of bytes) {
          size += chunk.byteLength;
          if (size > maxAttachmentBytes) throw attachmentTooLarge();
          watch.take(chunk);
          yield chunk;
        }
        file = judged(await watch.facts());
      } catch (error) {
        fault = error;
        throw error;
      }
    }
    function judged(facts: FileFacts): StoredFile {
      const { size_bytes, sha256, beginning } = facts;
      if (size_bytes === 0) throw wrongField('file', 'is empty');
      const content_type = detectFileType(facts, declared, filename);
      if (content_type === undefined || !types.includes(content_type)) throw wrongType(types);
      const preview = isTextType(content_type) ? previewOf(beginning) : null;
      return { storage_key, filename, content_type, size_bytes, sha256, preview };
    }

    try {
      await blobs.write(storage_key, checked());
    } catch (error) {
      if (fault instanceof DomainError) throw fault;
      throw new DomainError('UNAVAILABLE', 'The file could not be stored just now; try again.', {
        cause: fault ?? error,
        retry_after: 5,
      });
    }
    if (!file) throw new Error('a store has not read what it was to write');
    return {
      file,
      discard: () => blobs.remove(storage_key).catch((error: unknown) => log('bytes not removed', error)),
    };
  }

  return (incoming, agentId) => uploads.run(agentId, () => receive(incoming));
}

function wrongType(types: readonly string[]): DomainError {
  const message = `Its bytes are not of the type that was said, or not of one that is taken: ${types.join(', ')}.`;
  return new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
}

/** Whole characters only. */
function previewOf(beginning: Buffer): string {
  return new TextDecoder('utf-8').decode(beginning.subarray(0, maxPreviewBytes), { stream: true });
}
