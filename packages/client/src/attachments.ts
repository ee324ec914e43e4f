import { randomId } from './random-id.ts';
import type { Send } from './calls/request.ts';
import type { CallOptions } from './calls/types.ts';
import { createConnectionError } from './errors.ts';
import type { Attachment } from './generated/messages.ts';

/** A file or its bytes, a stream of them, or, with the client for Node, the path of a file. */
export type UploadSource =
  | Blob
  | Uint8Array
  | AsyncIterable<Uint8Array>
  | ReadableStream<Uint8Array>
  | string;

export interface UploadOptions extends CallOptions {
  /** Default: the name of the file. */
  filename?: string;
  /** Default: the type of the file, or what the service detects. */
  contentType?: string;
  /** Bytes that were sent, and all bytes if they are known. Browsers report the start and the end only. */
  onProgress?: (sentBytes: number, totalBytes: number | undefined) => void;
}

/** The content of an attachment. */
export interface Download {
  body: ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>;
  contentType: string;
  /** Undefined if the store does not say. */
  sizeBytes: number | undefined;
}

export interface AttachmentFiles {
  /** Uploads a file. Then send its id in a message. A stream is read once, so its upload is not retried. */
  upload(source: UploadSource, options?: UploadOptions): Promise<Attachment>;
  /** Downloads a file as a stream, by its id; waits until it was scanned. */
  download(file: string | { attachment_id: string }, options?: CallOptions): Promise<Download>;
  /** Downloads a file to a path, on Node. The path has the whole content or is not changed. */
  save(file: string | { attachment_id: string }, path: string, options?: CallOptions): Promise<void>;
}

/** Opens a file by its path, on Node. */
export type OpenFile = (path: string) => Promise<{ blob: Blob; filename: string }>;

/** Writes a file to a path, on Node. */
export type SaveFile = (path: string, content: AsyncIterable<Uint8Array>) => Promise<void>;

/** What files need of the platform. */
export interface FilePlatform {
  openFile?: OpenFile;
  saveFile?: SaveFile;
}

/** Creates the calls that send and receive files. */
export function createAttachmentFiles(
  send: Send,
  api: string,
  { openFile, saveFile }: FilePlatform,
): AttachmentFiles {
  const files: AttachmentFiles = {
    async upload(source, options = {}) {
      const { content, filename } = await openSource(source, options, openFile);
      const key = options.idempotencyKey ?? randomId();
      const boundary = randomId();
      const type = options.contentType ?? (content instanceof Blob ? content.type : '');
      const parts = formatParts(boundary, filename, type);
      return send(
        {
          method: 'POST',
          url: `${api}/attachments`,
          headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Idempotency-Key': key },
          body: () => createBody(parts, content, options.onProgress),
          isSafe: true, // it has a key
          isOnePass: !(content instanceof Blob),
        },
        options,
        async (response) => (await response.json()) as Attachment,
      );
    },
    download(file, options) {
      const attachment_id = typeof file === 'string' ? file : file.attachment_id;
      return send(
        {
          method: 'GET',
          url: `${api}/attachments/${encodeURIComponent(attachment_id)}/content`,
          isSafe: true,
        },
        options,
        async ({ body, headers }) => ({
          body: (body ?? new Blob([]).stream()) as Download['body'],
          contentType: headers.get('content-type') ?? 'application/octet-stream',
          sizeBytes: headers.has('content-length') ? Number(headers.get('content-length')) : undefined,
        }),
      );
    },
    async save(file, path, options) {
      if (!saveFile) throw new TypeError('A path needs the client of @agent-messaging/client/node.');
      const { body } = await files.download(file, options);
      await saveFile(path, body).catch((error: unknown) => {
        // What fetch says when the connection is lost.
        throw error instanceof TypeError ? createConnectionError(error, api) : error;
      });
    },
  };
  return files;
}

type Content = Blob | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

async function openSource(
  source: UploadSource,
  options: UploadOptions,
  openFile?: OpenFile,
): Promise<{ content: Content; filename: string }> {
  if (typeof source === 'string') {
    if (!openFile) throw new TypeError('A path needs the client of @agent-messaging/client/node.');
    const { blob, filename } = await openFile(source);
    return { content: blob, filename: options.filename ?? filename };
  }
  const name = source instanceof File ? source.name : 'file';
  const content = source instanceof Uint8Array ? new Blob([new Uint8Array(source)]) : source;
  return { content, filename: options.filename ?? name };
}

function formatParts(boundary: string, filename: string, type: string): { head: string; tail: string } {
  // As browsers write it (HTML, multipart/form-data encoding).
  const name = filename.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const typeLine = type === '' ? '' : `Content-Type: ${type.replaceAll(/[\r\n]/g, '')}\r\n`;
  return {
    head: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n${typeLine}\r\n`,
    tail: `\r\n--${boundary}--\r\n`,
  };
}

/** Browsers stream requests over HTTP/2 only, so they get a Blob. */
const streamsRequests = !('document' in globalThis);

function createBody(
  { head, tail }: { head: string; tail: string },
  content: Content,
  onProgress: UploadOptions['onProgress'],
): Blob | ReadableStream<Uint8Array> {
  if (content instanceof Blob && (!onProgress || !streamsRequests)) {
    onProgress?.(0, content.size);
    return new Blob([head, content, tail]);
  }
  const total = content instanceof Blob ? content.size : undefined;
  const source = content instanceof Blob ? content.stream() : content;
  const encoder = new TextEncoder();
  async function* generate(): AsyncGenerator<Uint8Array, void> {
    yield encoder.encode(head);
    let sent = 0;
    onProgress?.(0, total);
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      yield chunk;
      sent += chunk.length;
      onProgress?.(sent, total);
    }
    yield encoder.encode(tail);
  }
  return toStream(generate());
}

function toStream(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}
