import { createHash } from 'node:crypto';
import { z } from 'zod';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import type { WireMessage, WirePart } from './request.ts';
import { invalidInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { fitsAsJson } from '../../../packages/core/src/inputs/fields.ts';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { jsonToMarkdown } from '../../../packages/core/src/domain/tasks.ts';

/** The maximum size of the text of a message. */
export const maxContentBytes = 32_768;
const maxWireBytes = 65_536;

/** A message of a client as it is stored, besides its files. */
export interface StoredMessage {
  content: string;
  content_type: 'text' | 'markdown';
  /** The message as received, without the bytes of its files. The files are in the order of their parts. */
  wire: WireMessage;
  /** SHA-256 of the message. Equal messages have the same digest. */
  digest: Buffer;
}

/** A `raw` part, decoded. */
export interface RawFile {
  /** Its place among the parts. */
  index: number;
  filename: string;
  content_type: string | undefined;
  bytes: Buffer;
}

/** Returns the files of a message, in the order of its parts. */
export function readRawFiles({ parts }: Pick<WireMessage, 'parts'>): RawFile[] {
  return parts.flatMap(({ raw, filename, mediaType }, index) =>
    raw === undefined
      ? []
      : {
          index,
          filename: filename || 'file',
          content_type: mediaType || undefined,
          bytes: Buffer.from(raw, 'base64'),
        },
  );
}

/**
 * Returns the text of a message: its text parts, its data as JSON blocks, and its URLs as links, joined by empty lines.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE (data that is not JSON)
 */
export function toContent(parts: readonly WirePart[]): Pick<StoredMessage, 'content' | 'content_type'> {
  const isMarkdown = parts.some(({ text, mediaType }) => text !== undefined && isMarkdownType(mediaType));
  const content = parts.flatMap((part, index) => toText(part, index, isMarkdown) ?? []).join('\n\n');
  return { content, content_type: isMarkdown ? 'markdown' : 'text' };
}

/**
 * Returns what is stored of a message.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE (data that is not JSON), VALIDATION_ERROR (too long)
 */
export function toStoredMessage(message: WireMessage): StoredMessage {
  const text = toContent(message.parts);
  if (Buffer.byteLength(text.content) > maxContentBytes)
    throw invalidInput([
      {
        field: 'message.parts',
        message: 'must have at most 32,768 bytes of text; send longer text as a file in a raw or url part',
      },
    ]);
  const wire = { ...message, parts: message.parts.map(withoutBytes) };
  if (!fitsAsJson(wire, maxWireBytes))
    throw invalidInput([{ field: 'message', message: 'must be at most 64 KiB without its raw parts' }]);
  return { ...text, wire, digest: digestOf(message) };
}

const isMarkdownType = (type: string | undefined) => /^text\/(?:x-)?markdown\b/i.test(type ?? '');
const isJsonType = (type: string) => /^[\w.+-]+\/(?:[\w.+-]+\+)?json\b/i.test(type);

function toText(
  { text, url, data, filename, mediaType }: WirePart,
  index: number,
  isMarkdown: boolean,
): string | undefined {
  if (text !== undefined) return text;
  if (url !== undefined)
    return isMarkdown ? `[${filename || 'File'}](<${url}>)` : `${filename || 'File'}: ${url}`;
  if (data === undefined) return undefined;
  if (mediaType && !isJsonType(mediaType)) {
    const details = [{ field: `message.parts.${index}.mediaType`, message: 'must be application/json' }];
    const problem = `A data part is JSON, not ${mediaType.slice(0, 80)}.`;
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', problem, { details });
  }
  return jsonToMarkdown(data);
}

function withoutBytes({ raw, ...part }: WirePart): WirePart {
  return raw === undefined ? part : { ...part, raw: '' };
}

const mailboxOf = z.object({ [mailboxExtension]: z.record(z.string(), z.unknown()) });

/** The metadata of the mailbox extension. */
const readMailbox = ({ metadata }: Pick<WirePart, 'metadata'>): Record<string, unknown> =>
  mailboxOf.safeParse(metadata).data?.[mailboxExtension] ?? {};

/**
 * Returns the digest of what a message says, whichever form an attempt has. A file that the sender names counts by its name: it can be bytes, a
 * URL, or a note that it was removed. In a conversation that the sender names, the place does not count: its task can have ended since.
 */
function digestOf({ contextId, taskId, ...message }: WireMessage): Buffer {
  const isPlaced = readMailbox(message)['conversation'] === undefined;
  const parts = message.parts.map(toCounted);
  return sha256({ ...message, ...(isPlaced && { contextId, taskId }), parts });
}

/**
 * Returns the digest of parts. That of URLs stays the same when they are signed again.
 * @param place the ID of the task or message that they belong to: equal parts elsewhere have another digest.
 */
export const digestOfParts = (place: string, parts: readonly WirePart[]): Buffer =>
  sha256([place, ...parts.map(toCounted)]);

const sha256 = (value: object): Buffer => createHash('sha256').update(toCanonicalJson(value)).digest();

/** Signed URLs differ at each attempt, so the query of a URL does not count. */
function toCounted({ raw, url, ...part }: WirePart): object {
  const { file } = readMailbox(part);
  if (file !== undefined) return { file };
  return {
    ...part,
    ...(raw !== undefined && { raw: createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex') }),
    ...(url !== undefined && { url: url.replace(/\?[^#]*/, '') }),
  };
}
